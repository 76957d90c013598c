package oracle.kv.table;

/** A value of type STRING. */
public interface StringValue extends FieldValue {
    /** The value. */
    String get();
}
