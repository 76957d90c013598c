package dev.tonnage.client;

/** A key with its value. */
public final class Pair {
    private final Key key;
    private final byte[] value;
    private final long version;
    private final long expiresAtMs;

    /** A pair to be stored. The array is not copied. */
    public Pair(Key key, byte[] value) {
        this(key, value, 0, 0);
    }

    Pair(Key key, byte[] value, long version, long expiresAtMs) {
        this.key = java.util.Objects.requireNonNull(key, "key");
        this.value = java.util.Objects.requireNonNull(value, "value");
        this.version = version;
        this.expiresAtMs = expiresAtMs;
    }

    /** The key. */
    public Key key() {
        return key;
    }

    /** The value; empty where keys alone were asked for. */
    public byte[] value() {
        return value;
    }

    /** The version of a pair that was read; 0 where versions were not asked for. */
    public long version() {
        return version;
    }

    /** When a pair that was read expires, in milliseconds since 1970; 0 is never. */
    public long expiresAtMs() {
        return expiresAtMs;
    }

    @Override
    public String toString() {
        return key + " (" + value.length + " bytes)";
    }
}
