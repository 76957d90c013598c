package oracle.kv.table;

import dev.tonnage.client.BulkGetOptions;
import dev.tonnage.client.Condition;
import dev.tonnage.client.Result;
import dev.tonnage.client.Rows;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.TonnageException;
import dev.tonnage.client.Write;
import dev.tonnage.client.WriteResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import oracle.kv.BulkWriteOptions;
import oracle.kv.Durability;
import oracle.kv.EntryStream;
import oracle.kv.KVStoreConfig;
import oracle.kv.Mapping;
import oracle.kv.Overwrite;
import oracle.kv.StatementResult;
import oracle.kv.StoreIteratorException;
import oracle.kv.Version;

/** The tables of a store, over a client of Tonnage. Programs get it by its interface. */
public final class Tables implements TableAPI {
    private final Tonnage client;
    private final KVStoreConfig config;

    /** The tables of a client. */
    public Tables(Tonnage client, KVStoreConfig config) {
        this.client = client;
        this.config = config;
    }

    @Override
    public StatementResult executeSync(String statement) {
        return new StatementRows(Mapping.call(() -> client.sql(statement)));
    }

    @Override
    public Table getTable(String fullTableName) {
        try {
            return new TableHandle(this, client.table(fullTableName));
        } catch (TonnageException error) {
            if (error.kind() == TonnageException.Kind.NOT_FOUND) {
                return null;
            }
            throw Mapping.fault(error);
        }
    }

    @Override
    public Map<String, Table> getTables() {
        return below("");
    }

    /** The tables right below a prefix. */
    Map<String, Table> below(String prefix) {
        Map<String, Table> found = new LinkedHashMap<>();
        for (String path : Mapping.call(client::tables)) {
            boolean isChild = path.startsWith(prefix)
                    && path.indexOf('.', prefix.length()) < 0;
            Table table = isChild ? getTable(path) : null;
            if (table != null) {
                found.put(table.getName(), table);
            }
        }
        return found;
    }

    @Override
    public Row get(PrimaryKey key, ReadOptions readOptions) {
        dev.tonnage.client.Consistency consistency = Mapping.consistency(
                readOptions == null || readOptions.getConsistency() == null
                        ? config.getConsistency() : readOptions.getConsistency());
        Duration time = limit(readOptions == null ? 0 : readOptions.getTimeout(),
                readOptions == null ? null : readOptions.getTimeoutUnit());
        return Mapping.call(() -> read((RowCell) key, consistency, time));
    }

    @Override
    public List<Row> multiGet(PrimaryKey key, MultiRowOptions getOptions, ReadOptions readOptions) {
        List<Row> rows = new ArrayList<>();
        tableIterator(key, getOptions, ordered(readOptions)).forEachRemaining(rows::add);
        return rows;
    }

    @Override
    public List<PrimaryKey> multiGetKeys(PrimaryKey key, MultiRowOptions getOptions,
            ReadOptions readOptions) {
        List<PrimaryKey> keys = new ArrayList<>();
        tableKeysIterator(key, getOptions, ordered(readOptions)).forEachRemaining(keys::add);
        return keys;
    }

    /** As a call that gives all rows at once reads them. */
    private TableIteratorOptions ordered(ReadOptions options) {
        Duration time = limit(options == null ? 0 : options.getTimeout(),
                options == null ? null : options.getTimeoutUnit());
        return new TableIteratorOptions(oracle.kv.Direction.FORWARD,
                options == null ? null : options.getConsistency(), time.toNanos(),
                TimeUnit.NANOSECONDS);
    }

    @Override
    public TableIterator<Row> tableIterator(PrimaryKey key, MultiRowOptions getOptions,
            TableIteratorOptions iterateOptions) {
        return tableIterator(List.of(key).iterator(), getOptions, iterateOptions);
    }

    @Override
    public TableIterator<PrimaryKey> tableKeysIterator(PrimaryKey key, MultiRowOptions getOptions,
            TableIteratorOptions iterateOptions) {
        return tableKeysIterator(List.of(key).iterator(), getOptions, iterateOptions);
    }

    @Override
    public TableIterator<Row> tableIterator(Iterator<PrimaryKey> primaryKeyIterator,
            MultiRowOptions getOptions, TableIteratorOptions iterateOptions) {
        return tableIterator(List.of(primaryKeyIterator), getOptions, iterateOptions);
    }

    @Override
    public TableIterator<PrimaryKey> tableKeysIterator(Iterator<PrimaryKey> primaryKeyIterator,
            MultiRowOptions getOptions, TableIteratorOptions iterateOptions) {
        return tableKeysIterator(List.of(primaryKeyIterator), getOptions, iterateOptions);
    }

    @Override
    public TableIterator<Row> tableIterator(List<Iterator<PrimaryKey>> primaryKeyIterators,
            MultiRowOptions getOptions, TableIteratorOptions iterateOptions) {
        return read(primaryKeyIterators, getOptions, iterateOptions, false, row -> row);
    }

    @Override
    public TableIterator<PrimaryKey> tableKeysIterator(
            List<Iterator<PrimaryKey>> primaryKeyIterators, MultiRowOptions getOptions,
            TableIteratorOptions iterateOptions) {
        return read(primaryKeyIterators, getOptions, iterateOptions, true,
                row -> row.table().createPrimaryKey(row));
    }

    /** Rows of keys. The first key tells the table. */
    private <T> Found<T> read(List<Iterator<PrimaryKey>> sources, MultiRowOptions which,
            TableIteratorOptions how, boolean keysOnly, Function<RowCell, T> made) {
        List<Iterator<dev.tonnage.client.Row>> keys = new ArrayList<>();
        RowCell first = null;
        for (Iterator<PrimaryKey> source : sources) {
            RowCell taken = null;
            if (first == null && source.hasNext()) {
                taken = (RowCell) source.next();
                first = taken;
            }
            keys.add(new Keys(taken, source));
        }
        if (first == null) {
            return new Found<>(null, null, made);
        }
        TableHandle table = first.table();
        Map<String, TableHandle> tables = new LinkedHashMap<>();
        tables.put(table.getFullName(), table);
        if (first.isEmpty()) {
            return new Found<>(scan(table, which, how), tables, made);
        }
        BulkGetOptions options = reading(which, how, tables);
        if (keysOnly) {
            options.keysOnly();
        }
        return new Found<>(Mapping.call(() -> table.client().bulkGet(keys, options)), tables, made);
    }

    private static Rows scan(TableHandle table, MultiRowOptions which, TableIteratorOptions how) {
        boolean isPlain = which == null || which.getIncludedChildTables() == null
                && which.getIncludedParentTables() == null;
        if (!isPlain) {
            throw new UnsupportedOperationException("all rows are read without those of other "
                    + "tables: give a key with the shard key");
        }
        dev.tonnage.client.FieldRange range = which == null || which.getFieldRange() == null ? null
                : which.getFieldRange().mapped();
        return Mapping.call(() -> table.client().scan(
                Mapping.direction(how == null ? null : how.getDirection()), range));
    }

    private BulkGetOptions reading(MultiRowOptions which, TableIteratorOptions how,
            Map<String, TableHandle> tables) {
        BulkGetOptions options = new BulkGetOptions().versions()
                .direction(Mapping.direction(how == null ? null : how.getDirection()))
                .consistency(Mapping.consistency(how == null || how.getConsistency() == null
                        ? config.getConsistency() : how.getConsistency()));
        // Who iterates decides how long that takes: the time of a request says nothing of it.
        Duration time = how == null ? null : Mapping.time(how.getTimeout(), how.getTimeoutUnit());
        if (time != null) {
            options.timeout(time);
        }
        if (which == null) {
            return options;
        }
        if (which.getFieldRange() != null) {
            options.range(which.getFieldRange().mapped());
        }
        List<Table> relatives = new ArrayList<>();
        relatives.addAll(which.getIncludedParentTables() == null ? List.of()
                : which.getIncludedParentTables());
        relatives.addAll(which.getIncludedChildTables() == null ? List.of()
                : which.getIncludedChildTables());
        if (!relatives.isEmpty()) {
            relatives.forEach(one -> tables.put(one.getFullName(), (TableHandle) one));
            options.relatives(relatives.stream().map(Table::getFullName).toArray(String[]::new));
        }
        return options;
    }

    @Override
    public Version put(Row row, ReturnRow prevRow, WriteOptions writeOptions) {
        return put(row, Condition.ALWAYS, prevRow, writeOptions);
    }

    @Override
    public Version putIfAbsent(Row row, ReturnRow prevRow, WriteOptions writeOptions) {
        return put(row, Condition.IF_ABSENT, prevRow, writeOptions);
    }

    @Override
    public Version putIfPresent(Row row, ReturnRow prevRow, WriteOptions writeOptions) {
        return put(row, Condition.IF_PRESENT, prevRow, writeOptions);
    }

    @Override
    public Version putIfVersion(Row row, Version matchVersion, ReturnRow prevRow,
            WriteOptions writeOptions) {
        return put(row, Condition.ifVersion(matchVersion.getVersion()), prevRow, writeOptions);
    }

    private Version put(Row row, Condition condition, ReturnRow before, WriteOptions options) {
        RowCell cell = (RowCell) row;
        Version version = write(cell, false, condition, before, options).written();
        if (version != null) {
            cell.stamp(version);
        }
        return version;
    }

    @Override
    public boolean delete(PrimaryKey key, ReturnRow prevRow, WriteOptions writeOptions) {
        return write((RowCell) key, true, Condition.IF_PRESENT, prevRow, writeOptions).isStored();
    }

    @Override
    public boolean deleteIfVersion(PrimaryKey key, Version matchVersion, ReturnRow prevRow,
            WriteOptions writeOptions) {
        return write((RowCell) key, true, Condition.ifVersion(matchVersion.getVersion()), prevRow,
                writeOptions).isStored();
    }

    private dev.tonnage.client.WriteOptions writing(WriteOptions options, TimeToLive ttl) {
        Durability durability = options == null || options.getDurability() == null
                ? config.getDurability() : options.getDurability();
        dev.tonnage.client.WriteOptions mapped = new dev.tonnage.client.WriteOptions()
                .durability(Mapping.durability(durability))
                .timeout(limit(options == null ? 0 : options.getTimeout(),
                        options == null ? null : options.getTimeoutUnit()));
        // Zero is for ever, also in a table whose rows expire.
        return ttl == null ? mapped : mapped.ttl(Duration.ofHours(ttl.toHours()));
    }

    /** Writes a row. Where the row before is wanted, it is told. */
    private Overwrite<RowCell> write(RowCell row, boolean isDelete, Condition condition,
            ReturnRow before, WriteOptions options) {
        boolean isWanted = before != null && before.getReturnChoice() != ReturnRow.Choice.NONE;
        dev.tonnage.client.Table table = row.table().client();
        dev.tonnage.client.WriteOptions mapped = writing(options, row.getTTL());
        Function<Condition, WriteResult> write = held -> isDelete
                ? table.delete(row.mapped(), held, mapped)
                : table.put(row.mapped(), held, mapped);
        if (!isWanted) {
            return Overwrite.blind(Mapping.call(() -> write.apply(condition)));
        }
        RowCell key = isDelete ? row : (RowCell) row.createPrimaryKey();
        Duration time = limit(options == null ? 0 : options.getTimeout(),
                options == null ? null : options.getTimeoutUnit());
        // What is written over is what is stored now, however fresh other reads have to be.
        Overwrite<RowCell> made = Mapping.call(() -> Overwrite.make(condition,
                () -> read(key, dev.tonnage.client.Consistency.ABSOLUTE, time),
                found -> found.getVersion().getVersion(), write));
        ReturnRow.Choice choice = before.getReturnChoice();
        ((RowCell) before).fill(made.before(), choice != ReturnRow.Choice.VERSION,
                choice != ReturnRow.Choice.VALUE);
        return made;
    }

    private static RowCell read(RowCell key, dev.tonnage.client.Consistency consistency,
            Duration time) {
        dev.tonnage.client.Row row = key.table().client().get(key.mapped(), consistency, time);
        return row == null ? null : RowCell.of(key.table(), row);
    }

    /** The longest that a call may take: its own time, or that of the configuration. */
    private Duration limit(long timeout, TimeUnit unit) {
        Duration time = Mapping.time(timeout, unit);
        return time == null
                ? Duration.ofMillis(config.getRequestTimeout(TimeUnit.MILLISECONDS)) : time;
    }

    @Override
    public int multiDelete(PrimaryKey key, MultiRowOptions getOptions, WriteOptions writeOptions) {
        RowCell cell = (RowCell) key;
        for (String column : cell.table().getShardKey()) {
            if (cell.values().get(column) == null) {
                throw new IllegalArgumentException("multiDelete takes the whole shard key, and "
                        + "the key lacks `" + column + "`: DELETE by executeSync takes other "
                        + "conditions");
            }
        }
        List<TableHandle> tables = new ArrayList<>(List.of(cell.table()));
        if (getOptions != null && getOptions.getIncludedChildTables() != null) {
            getOptions.getIncludedChildTables().forEach(child -> tables.add((TableHandle) child));
        }
        if (getOptions != null && getOptions.getIncludedParentTables() != null) {
            throw new UnsupportedOperationException("rows above a key are not deleted with it");
        }
        long deleted = 0;
        for (TableHandle table : tables) {
            deleted += delete(table, cell, getOptions == null ? null : getOptions.getFieldRange());
        }
        return Math.toIntExact(deleted);
    }

    private long delete(TableHandle table, RowCell key, FieldRange range) {
        StringBuilder text = new StringBuilder("DELETE FROM ").append(table.getFullName());
        List<Object> parameters = new ArrayList<>();
        key.values().forEach((name, value) -> and(text, parameters, name, " = ", value));
        if (range != null && range.start() != null) {
            and(text, parameters, range.getFieldName(),
                    range.getStartInclusive() ? " >= " : " > ", range.start());
        }
        if (range != null && range.end() != null) {
            and(text, parameters, range.getFieldName(),
                    range.getEndInclusive() ? " <= " : " < ", range.end());
        }
        return Mapping.call(() -> {
            try (Result result = client.sql(text.toString(), parameters.toArray())) {
                return result.changed();
            }
        });
    }

    private static void and(StringBuilder text, List<Object> parameters, String column,
            String operator, Object value) {
        text.append(parameters.isEmpty() ? " WHERE " : " AND ").append('"').append(column)
                .append('"').append(operator).append('?');
        parameters.add(value);
    }

    @Override
    public TableOperationFactory getTableOperationFactory() {
        return new RowOperation.Factory();
    }

    @Override
    public List<TableOperationResult> execute(List<TableOperation> operations,
            WriteOptions writeOptions) throws TableOpExecutionException {
        List<Write> writes = new ArrayList<>();
        operations.forEach(operation -> writes.add(((RowOperation) operation).write()));
        TimeToLive ttl = commonTtl(operations);
        WriteResult result = Mapping.call(() -> client.write(writes, writing(writeOptions, ttl)));
        List<TableOperationResult> results = new ArrayList<>();
        if (!result.isStored()) {
            int index = result.failedOperation();
            throw new TableOpExecutionException(operations.get(index), index,
                    new RowOperation.Result(false, null));
        }
        for (TableOperation operation : operations) {
            boolean isPut = operation.getRow() != null;
            results.add(new RowOperation.Result(true,
                    isPut ? Mapping.version(result.version()) : null));
        }
        return results;
    }

    /** The time that all rows of a call live: the server takes one for all of them. */
    private static TimeToLive commonTtl(List<TableOperation> operations) {
        TimeToLive common = null;
        boolean isFirst = true;
        for (TableOperation operation : operations) {
            if (operation.getRow() == null) {
                continue;
            }
            TimeToLive ttl = operation.getRow().getTTL();
            if (!isFirst && !java.util.Objects.equals(common, ttl)) {
                throw new UnsupportedOperationException("the rows of one call live equally long: "
                        + "put rows of another time to live by a call of their own");
            }
            common = ttl;
            isFirst = false;
        }
        return common;
    }

    @Override
    public void put(List<EntryStream<Row>> streams, BulkWriteOptions bulkWriteOptions) {
        List<dev.tonnage.client.EntryStream<Row>> mapped = Mapping.streams(streams);
        try {
            client.bulkPutEntries(new Tonnage.RowOf<Row>() {
                @Override
                public dev.tonnage.client.Table tableOf(Row row) {
                    if (row.getTTL() != null) {
                        throw new UnsupportedOperationException("rows of a bulk put live as long "
                                + "as those of their table: leave out setTTL");
                    }
                    return ((RowCell) row).table().client();
                }

                @Override
                public dev.tonnage.client.Row rowOf(Row row) {
                    return ((RowCell) row).mapped();
                }
            }, mapped, Mapping.bulkPutOptions(bulkWriteOptions, config.getDurability()));
        } catch (TonnageException error) {
            throw Mapping.faultOfBulkPut(error);
        }
    }

    /** Keys as the client takes them, with one that was taken before. */
    private static final class Keys implements Iterator<dev.tonnage.client.Row> {
        private RowCell taken;
        private final Iterator<PrimaryKey> rest;

        Keys(RowCell taken, Iterator<PrimaryKey> rest) {
            this.taken = taken;
            this.rest = rest;
        }

        @Override
        public boolean hasNext() {
            return taken != null || rest.hasNext();
        }

        @Override
        public dev.tonnage.client.Row next() {
            RowCell next = taken == null ? (RowCell) rest.next() : taken;
            taken = null;
            return next.mapped();
        }
    }

    /** Rows as they come. */
    private static final class Found<T> implements TableIterator<T> {
        private final Rows rows;
        private final Map<String, TableHandle> tables;
        private final Function<RowCell, T> made;

        Found(Rows rows, Map<String, TableHandle> tables, Function<RowCell, T> made) {
            this.rows = rows;
            this.tables = tables;
            this.made = made;
        }

        @Override
        public boolean hasNext() {
            try {
                return rows != null && rows.hasNext();
            } catch (TonnageException error) {
                throw new StoreIteratorException(Mapping.fault(error), null);
            }
        }

        @Override
        public T next() {
            if (!hasNext()) {
                throw new NoSuchElementException("there are no more rows");
            }
            dev.tonnage.client.Row row = rows.next();
            TableHandle table = row.table() == null ? tables.values().iterator().next()
                    : tables.get(row.table());
            return made.apply(RowCell.of(table, row));
        }

        @Override
        public void close() {
            if (rows != null) {
                rows.close();
            }
        }
    }
}
