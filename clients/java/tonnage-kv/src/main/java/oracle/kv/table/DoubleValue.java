package oracle.kv.table;

/** A value of type DOUBLE. */
public interface DoubleValue extends FieldValue {
    /** The value. */
    double get();
}
