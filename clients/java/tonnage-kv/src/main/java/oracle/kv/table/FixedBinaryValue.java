package oracle.kv.table;

/** A value of type FIXEDBINARY. */
public interface FixedBinaryValue extends FieldValue {
    /** The value. */
    byte[] get();
}
