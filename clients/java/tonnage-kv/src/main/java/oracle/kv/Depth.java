package oracle.kv;

/** Which pairs below a key are meant. */
public enum Depth {
    /** Keys with one more component. */
    CHILDREN_ONLY,
    /** The key itself, and keys with one more component. */
    PARENT_AND_CHILDREN,
    /** Keys with more components. */
    DESCENDANTS_ONLY,
    /** The key itself, and keys with more components. */
    PARENT_AND_DESCENDANTS
}
