package oracle.kv;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.UUID;

/** The version of a pair or row: a later write has a greater one. */
public class Version implements Serializable {
    private static final long serialVersionUID = 1L;

    private final UUID group;
    private final long number;

    /** A version. Stores of Tonnage have one group. */
    public Version(UUID repGroupUUID, long vlsn) {
        group = repGroupUUID;
        number = vlsn;
    }

    /** The number, which grows with each write of a store. */
    public long getVersion() {
        return number;
    }

    /** The number as bytes. */
    public byte[] toByteArray() {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    /** A version out of its bytes. */
    public static Version fromByteArray(byte[] bytes) {
        return new Version(new UUID(0, 0), ByteBuffer.wrap(bytes).getLong());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Version && number == ((Version) other).number
                && group.equals(((Version) other).group);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(number);
    }

    @Override
    public String toString() {
        return "<Version " + number + ">";
    }
}
