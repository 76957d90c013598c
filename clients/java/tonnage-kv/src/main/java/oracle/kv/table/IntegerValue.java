package oracle.kv.table;

/** A value of type INTEGER. */
public interface IntegerValue extends FieldValue {
    /** The value. */
    int get();
}
