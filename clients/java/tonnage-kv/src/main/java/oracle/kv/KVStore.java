package oracle.kv;

import java.io.Closeable;
import java.util.Iterator;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.TimeUnit;
import oracle.kv.query.ExecuteOptions;
import oracle.kv.table.TableAPI;

/**
 * A store: its pairs, and by {@link #getTableAPI} its tables. Threads may share it.
 *
 * <p>Consistency, durability and time units may be null, and a time 0: then those of the
 * {@link KVStoreConfig} hold. What fails throws a {@link FaultException}, or an
 * {@link IllegalArgumentException} for a request that is wrong.
 */
public interface KVStore extends Closeable {
    /** Reads a pair; null where there is none. */
    ValueVersion get(Key key);

    /** Reads a pair; null where there is none. */
    ValueVersion get(Key key, Consistency consistency, long timeout, TimeUnit timeoutUnit);

    /** Reads the pairs at and below a key with a whole major path. */
    SortedMap<Key, ValueVersion> multiGet(Key parentKey, KeyRange subRange, Depth depth);

    /** Reads the pairs at and below a key with a whole major path. */
    SortedMap<Key, ValueVersion> multiGet(Key parentKey, KeyRange subRange, Depth depth,
            Consistency consistency, long timeout, TimeUnit timeoutUnit);

    /** Reads the keys at and below a key with a whole major path. */
    SortedSet<Key> multiGetKeys(Key parentKey, KeyRange subRange, Depth depth);

    /** Reads the keys at and below a key with a whole major path. */
    SortedSet<Key> multiGetKeys(Key parentKey, KeyRange subRange, Depth depth,
            Consistency consistency, long timeout, TimeUnit timeoutUnit);

    /** Iterates over the pairs at and below a key with a whole major path. */
    Iterator<KeyValueVersion> multiGetIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth);

    /** Iterates over the pairs at and below a key with a whole major path. */
    Iterator<KeyValueVersion> multiGetIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit);

    /** Iterates over the keys at and below a key with a whole major path. */
    Iterator<Key> multiGetKeysIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth);

    /** Iterates over the keys at and below a key with a whole major path. */
    Iterator<Key> multiGetKeysIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit);

    /** Iterates over all pairs. */
    Iterator<KeyValueVersion> storeIterator(Direction direction, int batchSize);

    /** Iterates over the pairs below a part of a major path. */
    Iterator<KeyValueVersion> storeIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth);

    /** Iterates over the pairs below a part of a major path. */
    Iterator<KeyValueVersion> storeIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit);

    /** Iterates over the pairs below a part of a major path. */
    ParallelScanIterator<KeyValueVersion> storeIterator(Direction direction, int batchSize,
            Key parentKey, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig);

    /** Iterates over all keys. */
    Iterator<Key> storeKeysIterator(Direction direction, int batchSize);

    /** Iterates over the keys below a part of a major path. */
    Iterator<Key> storeKeysIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth);

    /** Iterates over the keys below a part of a major path. */
    Iterator<Key> storeKeysIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit);

    /** Iterates over the keys below a part of a major path. */
    ParallelScanIterator<Key> storeKeysIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig);

    /** Bulk get: the pairs at and below many keys, each with a whole major path. */
    ParallelScanIterator<KeyValueVersion> storeIterator(Iterator<Key> parentKeyIterator,
            int batchSize, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig);

    /** Bulk get of keys alone. */
    ParallelScanIterator<Key> storeKeysIterator(Iterator<Key> parentKeyIterator, int batchSize,
            KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig);

    /** Bulk get out of several iterators of keys, which are read in turn. */
    ParallelScanIterator<KeyValueVersion> storeIterator(List<Iterator<Key>> parentKeyIterators,
            int batchSize, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig);

    /** Bulk get of keys alone, out of several iterators of keys. */
    ParallelScanIterator<Key> storeKeysIterator(List<Iterator<Key>> parentKeyIterators,
            int batchSize, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig);

    /** Stores a pair, and returns its version. */
    Version put(Key key, Value value);

    /** Stores a pair, and returns its version. */
    Version put(Key key, Value value, ReturnValueVersion prevValue, Durability durability,
            long timeout, TimeUnit timeoutUnit);

    /** Stores a pair where there is none; null where there is one. */
    Version putIfAbsent(Key key, Value value);

    /** Stores a pair where there is none; null where there is one. */
    Version putIfAbsent(Key key, Value value, ReturnValueVersion prevValue, Durability durability,
            long timeout, TimeUnit timeoutUnit);

    /** Stores a pair over one that is there; null where there is none. */
    Version putIfPresent(Key key, Value value);

    /** Stores a pair over one that is there; null where there is none. */
    Version putIfPresent(Key key, Value value, ReturnValueVersion prevValue, Durability durability,
            long timeout, TimeUnit timeoutUnit);

    /** Stores a pair over a version; null where another is there. */
    Version putIfVersion(Key key, Value value, Version matchVersion);

    /** Stores a pair over a version; null where another is there. */
    Version putIfVersion(Key key, Value value, Version matchVersion, ReturnValueVersion prevValue,
            Durability durability, long timeout, TimeUnit timeoutUnit);

    /** Deletes a pair. Returns whether there was one. */
    boolean delete(Key key);

    /** Deletes a pair. Returns whether there was one. */
    boolean delete(Key key, ReturnValueVersion prevValue, Durability durability, long timeout,
            TimeUnit timeoutUnit);

    /** Deletes a version of a pair. Returns whether it was there. */
    boolean deleteIfVersion(Key key, Version matchVersion);

    /** Deletes a version of a pair. Returns whether it was there. */
    boolean deleteIfVersion(Key key, Version matchVersion, ReturnValueVersion prevValue,
            Durability durability, long timeout, TimeUnit timeoutUnit);

    /** Deletes the pairs at and below a key with a whole major path. Returns how many. */
    int multiDelete(Key parentKey, KeyRange subRange, Depth depth);

    /** Deletes the pairs at and below a key with a whole major path. Returns how many. */
    int multiDelete(Key parentKey, KeyRange subRange, Depth depth, Durability durability,
            long timeout, TimeUnit timeoutUnit);

    /**
     * Carries out an operation.
     *
     * @throws UnsupportedOperationException for more than one: pairs are written one at a time
     * @throws OperationExecutionException where its condition does not hold, and it says that this
     *     ends the call
     */
    List<OperationResult> execute(List<Operation> operations) throws OperationExecutionException;

    /** Carries out an operation; see above. */
    List<OperationResult> execute(List<Operation> operations, Durability durability, long timeout,
            TimeUnit timeoutUnit) throws OperationExecutionException;

    /**
     * Bulk put: stores the pairs of many streams. Returns once all of them are durable.
     *
     * @throws RuntimeException what a stream throws
     */
    void put(List<EntryStream<KeyValue>> streams, BulkWriteOptions bulkWriteOptions);

    /** Makes operations for {@link #execute(List)}. */
    OperationFactory getOperationFactory();

    /** Closes the connections. */
    @Override
    void close();

    /** The tables. */
    TableAPI getTableAPI();

    /** Not offered: a store is opened by a user. */
    void login(LoginCredentials creds);

    /** Does nothing: there are no sessions. */
    void logout();

    /** Runs a statement: a definition, a change or a query. */
    StatementResult executeSync(String statement);

    /** Runs a statement. */
    StatementResult executeSync(String statement, ExecuteOptions options);
}
