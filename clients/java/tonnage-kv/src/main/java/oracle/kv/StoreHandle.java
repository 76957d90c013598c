package oracle.kv;

import dev.tonnage.client.BulkGetOptions;
import dev.tonnage.client.Condition;
import dev.tonnage.client.Options;
import dev.tonnage.client.Pair;
import dev.tonnage.client.Pairs;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.TonnageException;
import dev.tonnage.client.WriteOptions;
import dev.tonnage.client.WriteResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import oracle.kv.query.ExecuteOptions;
import oracle.kv.table.TableAPI;
import oracle.kv.table.Tables;

/** A store over a client of Tonnage. */
final class StoreHandle implements KVStore {
    private final Tonnage client;
    private final Pairs pairs;
    private final KVStoreConfig config;
    private final TableAPI tables;

    private StoreHandle(Tonnage client, KVStoreConfig config) {
        this.client = client;
        this.pairs = client.pairs();
        this.config = config;
        this.tables = new Tables(client, config);
    }

    static KVStore open(KVStoreConfig config, LoginCredentials credentials) {
        Options options = new Options().connectTimeout(
                Duration.ofMillis(config.getSocketOpenTimeout(TimeUnit.MILLISECONDS)));
        if (credentials instanceof PasswordCredentials) {
            char[] password = ((PasswordCredentials) credentials).getPassword();
            options.user(credentials.getUsername(), new String(password));
        } else if (credentials != null) {
            throw new UnsupportedOperationException("credentials are PasswordCredentials here");
        }
        String token = config.getSecurityProperties() == null ? null
                : config.getSecurityProperties().getProperty("tonnage.token");
        if (token != null) {
            options.token(token);
        }
        TonnageException last = null;
        for (String host : config.getHelperHosts()) {
            try {
                String url = host.contains("://") ? host : "http://" + host;
                return new StoreHandle(Tonnage.connect(url, options), config.clone());
            } catch (TonnageException error) {
                last = error;
            }
        }
        throw new FaultException(last == null ? "there is no address" : last.getMessage(), last,
                false);
    }

    @Override
    public ValueVersion get(Key key) {
        return get(key, null, 0, null);
    }

    @Override
    public ValueVersion get(Key key, Consistency consistency, long timeout, TimeUnit timeoutUnit) {
        Pair pair = Mapping.call(() -> pairs.get(Mapping.key(key), limit(timeout, timeoutUnit)));
        return pair == null ? null : new ValueVersion(Value.createValue(pair.value()),
                Mapping.version(pair.version()));
    }

    private BulkGetOptions reading(Direction direction, KeyRange range, Depth depth,
            boolean keysOnly, Consistency consistency, long timeout, TimeUnit unit) {
        BulkGetOptions options = new BulkGetOptions().depth(Mapping.depth(depth))
                .direction(Mapping.direction(direction)).versions()
                .consistency(Mapping.consistency(
                        consistency == null ? config.getConsistency() : consistency));
        if (range != null) {
            options.components(Mapping.range(range));
        }
        if (keysOnly) {
            options.keysOnly();
        }
        // Who iterates decides how long that takes: the time of a request says nothing of it.
        Duration time = Mapping.time(timeout, unit);
        return time == null ? options : options.timeout(time);
    }

    /** The longest that a call may take: its own time, or that of the configuration. */
    private Duration limit(long timeout, TimeUnit unit) {
        Duration time = Mapping.time(timeout, unit);
        return time == null
                ? Duration.ofMillis(config.getRequestTimeout(TimeUnit.MILLISECONDS)) : time;
    }

    /** The pairs at and below keys, as they come. */
    private <T> Found<T> read(List<? extends Iterator<Key>> parents, BulkGetOptions options,
            Function<Pair, T> made) {
        List<Iterator<dev.tonnage.client.Key>> keys = new ArrayList<>();
        for (Iterator<Key> source : parents) {
            keys.add(new Mapped<>(source, Mapping::key));
        }
        return new Found<>(Mapping.call(() -> pairs.bulkGet(keys, options)), made, pair -> true);
    }

    private static KeyValueVersion keyValueVersion(Pair pair) {
        return new KeyValueVersion(Mapping.key(pair.key()), Value.createValue(pair.value()),
                Mapping.version(pair.version()), pair.expiresAtMs());
    }

    private static Key keyOf(Pair pair) {
        return Mapping.key(pair.key());
    }

    private static List<Iterator<Key>> one(Key parent) {
        return List.of(Collections.singleton(parent).iterator());
    }

    @Override
    public SortedMap<Key, ValueVersion> multiGet(Key parentKey, KeyRange subRange, Depth depth) {
        return multiGet(parentKey, subRange, depth, null, 0, null);
    }

    @Override
    public SortedMap<Key, ValueVersion> multiGet(Key parentKey, KeyRange subRange, Depth depth,
            Consistency consistency, long timeout, TimeUnit timeoutUnit) {
        SortedMap<Key, ValueVersion> found = new TreeMap<>();
        Duration limit = limit(timeout, timeoutUnit);
        if (subRange == null) {
            int level = parentKey.getFullPath().size();
            for (Pair pair : Mapping.call(() -> pairs.family(Mapping.key(parentKey), limit))) {
                Key key = Mapping.key(pair.key());
                if (isAtDepth(depth, key.getFullPath().size() - level)) {
                    found.put(key, new ValueVersion(Value.createValue(pair.value()),
                            Mapping.version(pair.version())));
                }
            }
            return found;
        }
        multiGetIterator(Direction.UNORDERED, 0, parentKey, subRange, depth, consistency,
                limit.toNanos(), TimeUnit.NANOSECONDS).forEachRemaining(pair -> found.put(
                        pair.getKey(), new ValueVersion(pair.getValue(), pair.getVersion())));
        return found;
    }

    @Override
    public SortedSet<Key> multiGetKeys(Key parentKey, KeyRange subRange, Depth depth) {
        return multiGetKeys(parentKey, subRange, depth, null, 0, null);
    }

    @Override
    public SortedSet<Key> multiGetKeys(Key parentKey, KeyRange subRange, Depth depth,
            Consistency consistency, long timeout, TimeUnit timeoutUnit) {
        SortedSet<Key> found = new TreeSet<>();
        multiGetKeysIterator(Direction.UNORDERED, 0, parentKey, subRange, depth, consistency,
                limit(timeout, timeoutUnit).toNanos(), TimeUnit.NANOSECONDS)
                .forEachRemaining(found::add);
        return found;
    }

    @Override
    public Iterator<KeyValueVersion> multiGetIterator(Direction direction, int batchSize,
            Key parentKey, KeyRange subRange, Depth depth) {
        return multiGetIterator(direction, batchSize, parentKey, subRange, depth, null, 0, null);
    }

    @Override
    public Iterator<KeyValueVersion> multiGetIterator(Direction direction, int batchSize,
            Key parentKey, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit) {
        return read(one(parentKey), reading(direction, subRange, depth, false, consistency, timeout,
                timeoutUnit), StoreHandle::keyValueVersion);
    }

    @Override
    public Iterator<Key> multiGetKeysIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth) {
        return multiGetKeysIterator(direction, batchSize, parentKey, subRange, depth, null, 0,
                null);
    }

    @Override
    public Iterator<Key> multiGetKeysIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit) {
        return read(one(parentKey), reading(direction, subRange, depth, true, consistency, timeout,
                timeoutUnit), StoreHandle::keyOf);
    }

    @Override
    public Iterator<KeyValueVersion> storeIterator(Direction direction, int batchSize) {
        return storeIterator(direction, batchSize, null, null, null);
    }

    @Override
    public Iterator<KeyValueVersion> storeIterator(Direction direction, int batchSize,
            Key parentKey, KeyRange subRange, Depth depth) {
        return storeIterator(direction, batchSize, parentKey, subRange, depth, null, 0, null);
    }

    @Override
    public Iterator<KeyValueVersion> storeIterator(Direction direction, int batchSize,
            Key parentKey, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit) {
        return storeIterator(direction, batchSize, parentKey, subRange, depth, consistency, timeout,
                timeoutUnit, null);
    }

    @Override
    public ParallelScanIterator<KeyValueVersion> storeIterator(Direction direction, int batchSize,
            Key parentKey, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig) {
        return scan(direction, parentKey, subRange, depth, false, StoreHandle::keyValueVersion);
    }

    /** All pairs, of which those are given that lie below a key. */
    private <T> Found<T> scan(Direction direction, Key parent, KeyRange range, Depth depth,
            boolean keysOnly, Function<Pair, T> made) {
        Pairs.Found all = Mapping.call(
                () -> pairs.scan(Mapping.direction(direction), keysOnly && parent == null));
        if (parent == null && range == null) {
            return new Found<>(all, made, pair -> true);
        }
        int level = parent == null ? 0 : parent.getFullPath().size();
        return new Found<>(all, made, pair -> {
            Key key = Mapping.key(pair.key());
            int below = key.getFullPath().size() - level;
            boolean isBelow = parent == null || parent.isPrefix(key);
            boolean isInRange = range == null || below == 0 || range.inRange(parent, key);
            return isBelow && isInRange && isAtDepth(depth, below);
        });
    }

    private static boolean isAtDepth(Depth depth, int below) {
        if (depth == null) {
            return below >= 0;
        }
        switch (depth) {
            case CHILDREN_ONLY:
                return below == 1;
            case PARENT_AND_CHILDREN:
                return below == 0 || below == 1;
            case DESCENDANTS_ONLY:
                return below > 0;
            default:
                return below >= 0;
        }
    }

    @Override
    public Iterator<Key> storeKeysIterator(Direction direction, int batchSize) {
        return storeKeysIterator(direction, batchSize, null, null, null);
    }

    @Override
    public Iterator<Key> storeKeysIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth) {
        return storeKeysIterator(direction, batchSize, parentKey, subRange, depth, null, 0, null);
    }

    @Override
    public Iterator<Key> storeKeysIterator(Direction direction, int batchSize, Key parentKey,
            KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit) {
        return storeKeysIterator(direction, batchSize, parentKey, subRange, depth, consistency,
                timeout, timeoutUnit, null);
    }

    @Override
    public ParallelScanIterator<Key> storeKeysIterator(Direction direction, int batchSize,
            Key parentKey, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig) {
        return scan(direction, parentKey, subRange, depth, true, StoreHandle::keyOf);
    }

    @Override
    public ParallelScanIterator<KeyValueVersion> storeIterator(Iterator<Key> parentKeyIterator,
            int batchSize, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig) {
        return storeIterator(List.of(parentKeyIterator), batchSize, subRange, depth, consistency,
                timeout, timeoutUnit, storeIteratorConfig);
    }

    @Override
    public ParallelScanIterator<Key> storeKeysIterator(Iterator<Key> parentKeyIterator,
            int batchSize, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig) {
        return storeKeysIterator(List.of(parentKeyIterator), batchSize, subRange, depth,
                consistency, timeout, timeoutUnit, storeIteratorConfig);
    }

    @Override
    public ParallelScanIterator<KeyValueVersion> storeIterator(
            List<Iterator<Key>> parentKeyIterators, int batchSize, KeyRange subRange, Depth depth,
            Consistency consistency, long timeout, TimeUnit timeoutUnit,
            StoreIteratorConfig storeIteratorConfig) {
        return read(parentKeyIterators, reading(Direction.UNORDERED, subRange, depth, false,
                consistency, timeout, timeoutUnit), StoreHandle::keyValueVersion);
    }

    @Override
    public ParallelScanIterator<Key> storeKeysIterator(List<Iterator<Key>> parentKeyIterators,
            int batchSize, KeyRange subRange, Depth depth, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, StoreIteratorConfig storeIteratorConfig) {
        return read(parentKeyIterators, reading(Direction.UNORDERED, subRange, depth, true,
                consistency, timeout, timeoutUnit), StoreHandle::keyOf);
    }

    @Override
    public Version put(Key key, Value value) {
        return put(key, value, null, null, 0, null);
    }

    @Override
    public Version put(Key key, Value value, ReturnValueVersion prevValue, Durability durability,
            long timeout, TimeUnit timeoutUnit) {
        return write(key, value, Condition.ALWAYS, prevValue,
                writing(durability, timeout, timeoutUnit)).written();
    }

    @Override
    public Version putIfAbsent(Key key, Value value) {
        return putIfAbsent(key, value, null, null, 0, null);
    }

    @Override
    public Version putIfAbsent(Key key, Value value, ReturnValueVersion prevValue,
            Durability durability, long timeout, TimeUnit timeoutUnit) {
        return write(key, value, Condition.IF_ABSENT, prevValue,
                writing(durability, timeout, timeoutUnit)).written();
    }

    @Override
    public Version putIfPresent(Key key, Value value) {
        return putIfPresent(key, value, null, null, 0, null);
    }

    @Override
    public Version putIfPresent(Key key, Value value, ReturnValueVersion prevValue,
            Durability durability, long timeout, TimeUnit timeoutUnit) {
        return write(key, value, Condition.IF_PRESENT, prevValue,
                writing(durability, timeout, timeoutUnit)).written();
    }

    @Override
    public Version putIfVersion(Key key, Value value, Version matchVersion) {
        return putIfVersion(key, value, matchVersion, null, null, 0, null);
    }

    @Override
    public Version putIfVersion(Key key, Value value, Version matchVersion,
            ReturnValueVersion prevValue, Durability durability, long timeout,
            TimeUnit timeoutUnit) {
        return write(key, value, Condition.ifVersion(matchVersion.getVersion()), prevValue,
                writing(durability, timeout, timeoutUnit)).written();
    }

    @Override
    public boolean delete(Key key) {
        return delete(key, null, null, 0, null);
    }

    @Override
    public boolean delete(Key key, ReturnValueVersion prevValue, Durability durability,
            long timeout, TimeUnit timeoutUnit) {
        return write(key, null, Condition.IF_PRESENT, prevValue,
                writing(durability, timeout, timeoutUnit)).isStored();
    }

    @Override
    public boolean deleteIfVersion(Key key, Version matchVersion) {
        return deleteIfVersion(key, matchVersion, null, null, 0, null);
    }

    @Override
    public boolean deleteIfVersion(Key key, Version matchVersion, ReturnValueVersion prevValue,
            Durability durability, long timeout, TimeUnit timeoutUnit) {
        return write(key, null, Condition.ifVersion(matchVersion.getVersion()), prevValue,
                writing(durability, timeout, timeoutUnit)).isStored();
    }

    private WriteOptions writing(Durability durability, long timeout, TimeUnit unit) {
        return new WriteOptions().timeout(limit(timeout, unit)).durability(
                Mapping.durability(durability == null ? config.getDurability() : durability));
    }

    /** Writes a pair; no value deletes it. Where the pair before is wanted, it is told. */
    private Overwrite<Pair> write(Key key, Value value, Condition condition,
            ReturnValueVersion before, WriteOptions options) {
        dev.tonnage.client.Key mapped = Mapping.key(key);
        Function<Condition, WriteResult> write = held -> value == null
                ? pairs.delete(mapped, held, options)
                : pairs.put(mapped, value.getValue(), held, options);
        boolean isWanted = before != null
                && before.getReturnChoice() != ReturnValueVersion.Choice.NONE;
        Overwrite<Pair> made = Mapping.call(() -> isWanted
                ? Overwrite.make(condition, () -> pairs.get(mapped, options.timeout()),
                        Pair::version, write)
                : Overwrite.blind(write.apply(condition)));
        fill(before, made.before());
        return made;
    }

    private static void fill(ReturnValueVersion before, Pair found) {
        if (before == null) {
            return;
        }
        ReturnValueVersion.Choice choice = before.getReturnChoice();
        boolean wantsValue = choice == ReturnValueVersion.Choice.VALUE
                || choice == ReturnValueVersion.Choice.ALL;
        boolean wantsVersion = choice == ReturnValueVersion.Choice.VERSION
                || choice == ReturnValueVersion.Choice.ALL;
        before.setValue(found != null && wantsValue ? Value.createValue(found.value()) : null);
        before.setVersion(found != null && wantsVersion ? Mapping.version(found.version()) : null);
    }

    @Override
    public int multiDelete(Key parentKey, KeyRange subRange, Depth depth) {
        return multiDelete(parentKey, subRange, depth, null, 0, null);
    }

    @Override
    public int multiDelete(Key parentKey, KeyRange subRange, Depth depth, Durability durability,
            long timeout, TimeUnit timeoutUnit) {
        return Math.toIntExact(Mapping.call(() -> pairs.deleteAll(Mapping.key(parentKey),
                Mapping.depth(depth), Mapping.range(subRange),
                writing(durability, timeout, timeoutUnit))));
    }

    @Override
    public List<OperationResult> execute(List<Operation> operations)
            throws OperationExecutionException {
        return execute(operations, null, 0, null);
    }

    @Override
    public List<OperationResult> execute(List<Operation> operations, Durability durability,
            long timeout, TimeUnit timeoutUnit) throws OperationExecutionException {
        if (operations.size() != 1) {
            throw new UnsupportedOperationException(operations.size() + " operations: pairs are "
                    + "written one at a time. Rows of one shard key are written together by "
                    + "TableAPI.execute");
        }
        PairOperation operation = (PairOperation) operations.get(0);
        ReturnValueVersion before = new ReturnValueVersion(operation.returns());
        Overwrite<Pair> written = write(operation.getKey(), operation.value(),
                operation.condition(), before, writing(durability, timeout, timeoutUnit));
        PairOperation.Result result = new PairOperation.Result(written, before, operation);
        if (!written.isStored() && operation.getAbortIfUnsuccessful()) {
            throw new OperationExecutionException(operation, 0, result);
        }
        return List.of(result);
    }

    @Override
    public void put(List<EntryStream<KeyValue>> streams, BulkWriteOptions bulkWriteOptions) {
        List<dev.tonnage.client.EntryStream<KeyValue>> mapped = Mapping.streams(streams);
        try {
            client.bulkPutPairs(entry -> new Pair(Mapping.key(entry.getKey()),
                    entry.getValue().getValue()), mapped,
                    Mapping.bulkPutOptions(bulkWriteOptions, config.getDurability()));
        } catch (TonnageException error) {
            throw Mapping.faultOfBulkPut(error);
        }
    }

    @Override
    public OperationFactory getOperationFactory() {
        return new PairOperation.Factory();
    }

    @Override
    public TableAPI getTableAPI() {
        return tables;
    }

    @Override
    public void login(LoginCredentials creds) {
        throw new UnsupportedOperationException(
                "open the store as a user: KVStoreFactory.getStore(config, credentials, null)");
    }

    @Override
    public void logout() {
        // Each call says who makes it: nothing is left of one.
    }

    @Override
    public StatementResult executeSync(String statement) {
        return tables.executeSync(statement);
    }

    @Override
    public StatementResult executeSync(String statement, ExecuteOptions options) {
        return tables.executeSync(statement);
    }

    @Override
    public void close() {
        client.close();
    }

    /** An iterator whose items are made of those of another. */
    private static final class Mapped<F, T> implements Iterator<T> {
        private final Iterator<F> from;
        private final Function<F, T> made;

        Mapped(Iterator<F> from, Function<F, T> made) {
            this.from = from;
            this.made = made;
        }

        @Override
        public boolean hasNext() {
            return from.hasNext();
        }

        @Override
        public T next() {
            return made.apply(from.next());
        }
    }

    /** Pairs as they come, as what a call gives. */
    private static final class Found<T> implements ParallelScanIterator<T> {
        private final Pairs.Found pairs;
        private final Function<Pair, T> made;
        private final java.util.function.Predicate<Pair> filter;
        private Pair next;
        private Key last;

        Found(Pairs.Found pairs, Function<Pair, T> made,
                java.util.function.Predicate<Pair> filter) {
            this.pairs = pairs;
            this.made = made;
            this.filter = filter;
        }

        @Override
        public boolean hasNext() {
            try {
                while (next == null && pairs.hasNext()) {
                    Pair pair = pairs.next();
                    next = filter.test(pair) ? pair : null;
                }
                return next != null;
            } catch (TonnageException error) {
                throw new StoreIteratorException(Mapping.fault(error), last);
            }
        }

        @Override
        public T next() {
            if (!hasNext()) {
                throw new NoSuchElementException("there are no more pairs");
            }
            Pair pair = next;
            next = null;
            last = Mapping.key(pair.key());
            return made.apply(pair);
        }

        @Override
        public void close() {
            pairs.close();
        }
    }
}
