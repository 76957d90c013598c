package oracle.kv;

import java.util.Objects;

/** A key with its value. */
public class KeyValue {
    private final Key key;
    private final Value value;

    /** A pair. */
    public KeyValue(Key key, Value value) {
        this.key = Objects.requireNonNull(key, "key");
        this.value = Objects.requireNonNull(value, "value");
    }

    /** The key. */
    public Key getKey() {
        return key;
    }

    /** The value. */
    public Value getValue() {
        return value;
    }

    @Override
    public String toString() {
        return key + " " + value;
    }
}
