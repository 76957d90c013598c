package dev.tonnage.client;

/**
 * A source of entries for a bulk put. One thread reads it; the other methods are called by another
 * thread, one at a time. What they throw stops the bulk put.
 *
 * @param <E> rows or pairs
 */
public interface EntryStream<E> {
    /** What reports call the stream. */
    String name();

    /** The next entry; null behind the last one. */
    E getNext();

    /** All entries are stored with the durability that was asked for, exist, or failed. */
    default void completed() {
    }

    /** The key of an entry is stored already, and the stored one stays. */
    default void keyExists(E entry) {
    }

    /** An entry could not be stored. The exception says why, and names the column. */
    default void failed(RuntimeException reason, E entry) {
    }
}
