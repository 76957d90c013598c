package oracle.kv;

/** The order of an iteration. */
public enum Direction {
    /** In the order of the keys. */
    FORWARD,
    /** From the last key on. */
    REVERSE,
    /** As it comes. */
    UNORDERED
}
