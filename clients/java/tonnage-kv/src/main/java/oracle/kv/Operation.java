package oracle.kv;

/** A write of a pair. */
public interface Operation {
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

    /** The key. */
    Key getKey();

    /** What it does. */
    Type getType();

    /** Whether a condition that does not hold ends all operations. */
    boolean getAbortIfUnsuccessful();
}
