package oracle.kv.table;

/** A value of type BINARY. */
public interface BinaryValue extends FieldValue {
    /** The value. */
    byte[] get();
}
