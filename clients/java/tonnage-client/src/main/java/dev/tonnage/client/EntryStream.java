package dev.tonnage.client;

/**
 * A source of entries for a bulk put. One thread reads it, and is interrupted when the bulk put is
 * stopped. The other methods are called one at a time: by the reading thread where an entry fits no
 * column and at the end, else by threads that take the server's answers. What they throw stops the
 * bulk put.
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
