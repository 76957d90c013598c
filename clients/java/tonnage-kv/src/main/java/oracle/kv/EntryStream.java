package oracle.kv;

/** A source of entries for a bulk put, which also hears of them.
 *
 * @param <E> KeyValue or Row
 */
public interface EntryStream<E> {
    /** What reports call the stream. */
    String name();

    /** The next entry; null behind the last one. */
    E getNext();

    /** All entries of the stream are durable, exist already, or failed. */
    void completed();

    /** The key of an entry is stored already. The stored one stays. */
    void keyExists(E entry);

    /** An entry failed. What this method throws ends the bulk put. */
    void catchException(RuntimeException exception, E entry);
}
