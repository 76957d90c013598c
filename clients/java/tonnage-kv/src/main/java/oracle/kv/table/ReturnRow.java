package oracle.kv.table;

/** Takes the row that a write replaced, deleted, or found in its way. */
public interface ReturnRow extends Row {
    /** What of the row before is returned. */
    enum Choice {
        /** The row. */
        VALUE,
        /** Its version. */
        VERSION,
        /** Both. */
        ALL,
        /** Nothing. */
        NONE
    }

    /** What is asked for. */
    Choice getReturnChoice();
}
