package oracle.kv;

import dev.tonnage.client.Condition;
import dev.tonnage.client.WriteResult;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * A conditional write that tells what was there before. The server tells versions, and not values.
 *
 * <p>1. What is there is read, with its version.
 *
 * <p>2. If it does not fulfil the condition, nothing is written.
 *
 * <p>3. Else the write is made over that very version. Where another write came between, all of
 * this is done again.
 *
 * @param <T> what is read
 */
public final class Overwrite<T> {
    private final boolean isStored;
    private final long version;
    private final T before;

    private Overwrite(boolean isStored, long version, T before) {
        this.isStored = isStored;
        this.version = version;
        this.before = before;
    }

    /** Writes without a look at what is there. */
    public static <T> Overwrite<T> blind(WriteResult result) {
        return new Overwrite<>(result.isStored(), result.version(), null);
    }

    /**
     * Writes where a condition holds, and keeps what was there.
     *
     * @param read reads what is there; null for nothing
     * @param version the version of what was read
     * @param write writes where a condition holds
     */
    public static <T> Overwrite<T> make(Condition condition, Supplier<T> read,
            ToLongFunction<T> version, Function<Condition, WriteResult> write) {
        while (true) {
            T found = read.get();
            long stored = found == null ? 0 : version.applyAsLong(found);
            if (!condition.isMetBy(stored)) {
                return new Overwrite<>(false, stored, found);
            }
            WriteResult result = write.apply(
                    found == null ? Condition.IF_ABSENT : Condition.ifVersion(stored));
            if (result.isStored()) {
                return new Overwrite<>(true, result.version(), found);
            }
        }
    }

    /** Whether it was made. */
    public boolean isStored() {
        return isStored;
    }

    /** The version that was written; null where nothing was. */
    public Version written() {
        return isStored ? Mapping.version(version) : null;
    }

    /** What was there; null for nothing, and where it was not read. */
    public T before() {
        return before;
    }
}
