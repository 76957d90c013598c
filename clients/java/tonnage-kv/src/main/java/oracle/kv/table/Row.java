package oracle.kv.table;

import oracle.kv.Version;

/** A row of a table. */
public interface Row extends RecordValue {
    /** The table. */
    Table getTable();

    /** The version of a row that was read or put; null without one. */
    Version getVersion();

    /** The key of the row. */
    PrimaryKey createPrimaryKey();

    @Override
    Row clone();

    /** Sets how long the row lives once it is stored; null is as long as those of the table. */
    void setTTL(TimeToLive ttl);

    /** How long the row lives once it is stored; null is as long as those of the table. */
    TimeToLive getTTL();

    /** When a row that was read expires, in milliseconds since 1970; 0 is never. */
    long getExpirationTime();

    /**
     * When the row was written.
     *
     * @throws UnsupportedOperationException always: rows have versions, and no such time
     */
    default long getLastModificationTime() {
        throw new UnsupportedOperationException(
                "rows have no time of their last change: compare versions");
    }
}
