package oracle.kv.table;

/** A text of an enumeration. */
public interface EnumValue extends FieldValue {
    /** The value. */
    String get();
}
