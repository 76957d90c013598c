package oracle.kv.table;

/** A value of type FLOAT. */
public interface FloatValue extends FieldValue {
    /** The value. */
    float get();
}
