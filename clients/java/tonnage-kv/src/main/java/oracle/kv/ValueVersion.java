package oracle.kv;

/** A value with its version. */
public class ValueVersion {
    private Value value;
    private Version version;

    /** Neither value nor version. */
    public ValueVersion() {
    }

    /** A value with its version. */
    public ValueVersion(Value value, Version version) {
        this.value = value;
        this.version = version;
    }

    /** The value; null where it was not asked for. */
    public Value getValue() {
        return value;
    }

    /** The version; null where it was not asked for. */
    public Version getVersion() {
        return version;
    }

    /** Sets the value. */
    public ValueVersion setValue(Value value) {
        this.value = value;
        return this;
    }

    /** Sets the version. */
    public ValueVersion setVersion(Version version) {
        this.version = version;
        return this;
    }

    @Override
    public String toString() {
        return value + " " + version;
    }
}
