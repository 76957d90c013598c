package oracle.kv.table;

/** A write of a row. */
public interface TableOperation {
    /** What operations do. */
    enum Type {
        /** Store. */
        PUT,
        /** Store where there is none. */
        PUT_IF_ABSENT,
        /** Store over one that is there. */
        PUT_IF_PRESENT,
        /** Store over a version. */
        PUT_IF_VERSION,
        /** Delete. */
        DELETE,
        /** Delete a version. */
        DELETE_IF_VERSION
    }

    /** The row of a put; null for others. */
    Row getRow();

    /** The key of a deletion; null for others. */
    PrimaryKey getPrimaryKey();

    /** What it does. */
    Type getType();

    /** Whether a condition that does not hold ends all operations. */
    boolean getAbortIfUnsuccessful();
}
