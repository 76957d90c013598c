package oracle.kv;

import java.util.Arrays;
import java.util.Objects;

/** The value of a pair. */
public class Value {
    /** The format of values. Avro is not offered. */
    public enum Format {
        /** Bytes. */
        NONE
    }

    /** A value of no bytes. */
    public static final Value EMPTY_VALUE = new Value(new byte[0]);

    private final byte[] bytes;

    private Value(byte[] bytes) {
        this.bytes = Objects.requireNonNull(bytes, "value");
    }

    /** A value of these bytes, which are not copied. */
    public static Value createValue(byte[] val) {
        return new Value(val);
    }

    /** The bytes, which are not copied. */
    public byte[] getValue() {
        return bytes;
    }

    /** The format: bytes. */
    public Format getFormat() {
        return Format.NONE;
    }

    /** The bytes. */
    public byte[] toByteArray() {
        return bytes.clone();
    }

    /** A value out of its bytes. */
    public static Value fromByteArray(byte[] bytes) {
        return new Value(bytes.clone());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Value && Arrays.equals(bytes, ((Value) other).bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "<Value of " + bytes.length + " bytes>";
    }
}
