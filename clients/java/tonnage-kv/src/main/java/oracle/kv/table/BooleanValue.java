package oracle.kv.table;

/** A value of type BOOLEAN. */
public interface BooleanValue extends FieldValue {
    /** The value. */
    boolean get();
}
