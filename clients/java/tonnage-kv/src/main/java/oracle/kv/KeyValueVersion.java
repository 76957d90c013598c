package oracle.kv;

/** A pair with its version. */
public class KeyValueVersion {
    private final Key key;
    private final Value value;
    private final Version version;
    private final long expirationTime;

    /** A pair with its version. */
    public KeyValueVersion(Key key, Value value, Version version) {
        this(key, value, version, 0);
    }

    /** A pair without a version. */
    public KeyValueVersion(Key key, Value value) {
        this(key, value, null, 0);
    }

    /** A pair that expires. */
    public KeyValueVersion(Key key, Value value, Version version, long expirationTime) {
        this.key = key;
        this.value = value;
        this.version = version;
        this.expirationTime = expirationTime;
    }

    /** The key. */
    public Key getKey() {
        return key;
    }

    /** The value. */
    public Value getValue() {
        return value;
    }

    /** The version. */
    public Version getVersion() {
        return version;
    }

    /** When it expires, in milliseconds since 1970; 0 is never. */
    public long getExpirationTime() {
        return expirationTime;
    }

    @Override
    public String toString() {
        return key + " " + value + " " + version;
    }
}
