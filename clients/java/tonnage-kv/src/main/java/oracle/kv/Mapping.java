package oracle.kv;

import dev.tonnage.client.TonnageException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** How these names map to those of the client. */
public final class Mapping {
    private static final UUID GROUP = new UUID(0, 0);

    private Mapping() {
    }

    /** A version as this package has it. */
    public static Version version(long version) {
        return new Version(GROUP, version);
    }

    static dev.tonnage.client.Key key(Key key) {
        return dev.tonnage.client.Key.of(key.getMajorPath(), key.getMinorPath());
    }

    static Key key(dev.tonnage.client.Key key) {
        return Key.createKey(key.major(), key.minor());
    }

    /** A durability; the first policy counts. */
    public static dev.tonnage.client.Durability durability(Durability durability) {
        switch (durability.getMasterSync()) {
            case SYNC:
                return dev.tonnage.client.Durability.FSYNC;
            case WRITE_NO_SYNC:
                return dev.tonnage.client.Durability.WRITE;
            default:
                return dev.tonnage.client.Durability.NONE;
        }
    }

    /** A consistency. */
    public static dev.tonnage.client.Consistency consistency(Consistency consistency) {
        if (consistency instanceof Consistency.Time) {
            return dev.tonnage.client.Consistency.time(
                    ((Consistency.Time) consistency).getPermissibleLag(TimeUnit.MILLISECONDS));
        }
        if (consistency instanceof Consistency.Version) {
            return dev.tonnage.client.Consistency.version(
                    ((Consistency.Version) consistency).getVersion().getVersion());
        }
        return consistency == Consistency.ABSOLUTE ? dev.tonnage.client.Consistency.ABSOLUTE
                : dev.tonnage.client.Consistency.NONE;
    }

    /** A direction; null is any. */
    public static dev.tonnage.client.Direction direction(Direction direction) {
        if (direction == null) {
            return dev.tonnage.client.Direction.UNORDERED;
        }
        return dev.tonnage.client.Direction.valueOf(direction.name());
    }

    /** Without a depth all pairs at and below a key are meant. */
    static dev.tonnage.client.Depth depth(Depth depth) {
        return depth == null ? dev.tonnage.client.Depth.PARENT_AND_DESCENDANTS
                : dev.tonnage.client.Depth.valueOf(depth.name());
    }

    static dev.tonnage.client.KeyRange range(KeyRange range) {
        if (range == null) {
            return null;
        }
        return range.isPrefix() ? dev.tonnage.client.KeyRange.prefix(range.getStart())
                : dev.tonnage.client.KeyRange.between(range.getStart(), range.getStartInclusive(),
                        range.getEnd(), range.getEndInclusive());
    }

    /** A time limit; null without one. */
    public static Duration time(long timeout, TimeUnit unit) {
        if (timeout < 0) {
            throw new IllegalArgumentException("a time limit of " + timeout);
        }
        if (timeout > 0 && unit == null) {
            throw new IllegalArgumentException("a time limit has a unit");
        }
        return timeout == 0 ? null : Duration.ofNanos(unit.toNanos(timeout));
    }

    /** An error as this package has it. */
    public static RuntimeException fault(RuntimeException error) {
        if (!(error instanceof TonnageException)) {
            return error;
        }
        TonnageException told = (TonnageException) error;
        boolean isRemote = told.status() != 0;
        switch (told.kind()) {
            case INVALID_REQUEST:
            case NOT_FOUND:
            case CONFLICT:
                return new IllegalArgumentException(told.getMessage(), told);
            case TIMED_OUT:
                return new RequestTimeoutException(0, told.getMessage(), told, isRemote);
            case NOT_ALLOWED:
                return new UnauthorizedException(told.getMessage(), told);
            case NOT_LOGGED_IN:
                return new AuthenticationFailureException(told.getMessage(), told);
            case UNSUPPORTED:
                return new UnsupportedOperationException(told.getMessage(), told);
            default:
                return new FaultException(told.getMessage(), told, isRemote);
        }
    }

    /** What ended a bulk put: what a stream itself threw comes out as it is. */
    public static RuntimeException faultOfBulkPut(RuntimeException error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof RuntimeException && !(cause instanceof TonnageException)) {
                return (RuntimeException) cause;
            }
        }
        return fault(error);
    }

    /** Carries out a call, and makes its error one of this package. */
    public static <T> T call(Supplier<T> call) {
        try {
            return call.get();
        } catch (TonnageException error) {
            throw fault(error);
        }
    }

    /** How a bulk put loads. */
    public static dev.tonnage.client.BulkPutOptions bulkPutOptions(BulkWriteOptions options,
            Durability otherwise) {
        BulkWriteOptions given = options == null ? new BulkWriteOptions() : options;
        Durability durability = given.getDurability() == null ? otherwise : given.getDurability();
        long memory = Runtime.getRuntime().maxMemory() / 100 * given.getBulkHeapPercent();
        dev.tonnage.client.BulkPutOptions mapped = new dev.tonnage.client.BulkPutOptions()
                .durability(durability(durability))
                .memoryBytesMax(Math.max(memory, given.getMaxRequestSize()))
                .requestBytesMax(given.getMaxRequestSize())
                .streamParallelism(given.getStreamParallelism())
                .onExisting(given.getOverwrite() ? dev.tonnage.client.OnExisting.REPLACE
                        : dev.tonnage.client.OnExisting.KEEP);
        Duration time = time(given.getTimeout(), given.getTimeoutUnit());
        return time == null ? mapped : mapped.timeout(time);
    }

    /**
     * Streams as the client reads them.
     *
     * @throws IllegalArgumentException where there is none, or one is null
     */
    public static <E> List<dev.tonnage.client.EntryStream<E>> streams(
            List<EntryStream<E>> streams) {
        if (streams == null || streams.isEmpty()
                || streams.stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException("a bulk put has one stream at least, and none is "
                    + "null");
        }
        return streams.stream().map(Mapping::stream).collect(Collectors.toList());
    }

    private static <E> dev.tonnage.client.EntryStream<E> stream(EntryStream<E> stream) {
        return new dev.tonnage.client.EntryStream<E>() {
            @Override
            public String name() {
                return stream.name();
            }

            @Override
            public E getNext() {
                return stream.getNext();
            }

            @Override
            public void completed() {
                stream.completed();
            }

            @Override
            public void keyExists(E entry) {
                stream.keyExists(entry);
            }

            @Override
            public void failed(RuntimeException reason, E entry) {
                stream.catchException(fault(reason), entry);
            }
        };
    }
}
