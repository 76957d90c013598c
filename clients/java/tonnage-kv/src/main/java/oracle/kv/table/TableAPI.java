package oracle.kv.table;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import oracle.kv.BulkWriteOptions;
import oracle.kv.EntryStream;
import oracle.kv.StatementResult;
import oracle.kv.Version;

/** The tables of a store. Options may be null. */
public interface TableAPI {
    /** Runs a statement: a definition, a change or a query. */
    StatementResult executeSync(String statement);

    /** A table by its full name; null without it. */
    Table getTable(String fullTableName);

    /** All tables at the top, by their names. */
    Map<String, Table> getTables();

    /** Reads a row; null where there is none. */
    Row get(PrimaryKey key, ReadOptions readOptions);

    /** Reads all rows of a key with a whole shard key. */
    List<Row> multiGet(PrimaryKey key, MultiRowOptions getOptions, ReadOptions readOptions);

    /** Reads all keys of a key with a whole shard key. */
    List<PrimaryKey> multiGetKeys(PrimaryKey key, MultiRowOptions getOptions,
            ReadOptions readOptions);

    /** Iterates over the rows of a key; one without values stands for all rows. */
    TableIterator<Row> tableIterator(PrimaryKey key, MultiRowOptions getOptions,
            TableIteratorOptions iterateOptions);

    /** Iterates over the keys of a key. */
    TableIterator<PrimaryKey> tableKeysIterator(PrimaryKey key, MultiRowOptions getOptions,
            TableIteratorOptions iterateOptions);

    /** Bulk get: the rows of many keys. */
    TableIterator<Row> tableIterator(Iterator<PrimaryKey> primaryKeyIterator,
            MultiRowOptions getOptions, TableIteratorOptions iterateOptions);

    /** Bulk get of keys alone. */
    TableIterator<PrimaryKey> tableKeysIterator(Iterator<PrimaryKey> primaryKeyIterator,
            MultiRowOptions getOptions, TableIteratorOptions iterateOptions);

    /** Bulk get out of several iterators of keys, which are read in turn. */
    TableIterator<Row> tableIterator(List<Iterator<PrimaryKey>> primaryKeyIterators,
            MultiRowOptions getOptions, TableIteratorOptions iterateOptions);

    /** Bulk get of keys alone, out of several iterators of keys. */
    TableIterator<PrimaryKey> tableKeysIterator(List<Iterator<PrimaryKey>> primaryKeyIterators,
            MultiRowOptions getOptions, TableIteratorOptions iterateOptions);

    /** Stores a row, and returns its version. */
    Version put(Row row, ReturnRow prevRow, WriteOptions writeOptions);

    /** Stores a row where there is none; null where there is one. */
    Version putIfAbsent(Row row, ReturnRow prevRow, WriteOptions writeOptions);

    /** Stores a row over one that is there; null where there is none. */
    Version putIfPresent(Row row, ReturnRow prevRow, WriteOptions writeOptions);

    /** Stores a row over a version; null where another is there. */
    Version putIfVersion(Row row, Version matchVersion, ReturnRow prevRow,
            WriteOptions writeOptions);

    /** Deletes a row. Returns whether there was one. */
    boolean delete(PrimaryKey key, ReturnRow prevRow, WriteOptions writeOptions);

    /** Deletes a version of a row. Returns whether it was there. */
    boolean deleteIfVersion(PrimaryKey key, Version matchVersion, ReturnRow prevRow,
            WriteOptions writeOptions);

    /** Deletes all rows of a key. Returns how many. */
    int multiDelete(PrimaryKey key, MultiRowOptions getOptions, WriteOptions writeOptions);

    /** Makes operations for {@link #execute}. */
    TableOperationFactory getTableOperationFactory();

    /** Carries out operations on one shard key, all or none. */
    List<TableOperationResult> execute(List<TableOperation> operations,
            WriteOptions writeOptions) throws TableOpExecutionException;

    /**
     * Bulk put: stores the rows of many streams. Returns once all of them are durable.
     *
     * @throws RuntimeException what a stream throws
     */
    void put(List<EntryStream<Row>> streams, BulkWriteOptions bulkWriteOptions);
}
