package oracle.kv;

import java.util.concurrent.TimeUnit;
import oracle.kv.table.WriteOptions;

/** How a bulk put loads. */
public class BulkWriteOptions extends WriteOptions {
    private static final int REQUEST_SIZE_MIN = 64 * 1024;

    private int bulkHeapPercent = 40;
    private int maxRequestSize = 512 * 1024;
    private int perShardParallelism = 3;
    private int streamParallelism = 1;
    private boolean overwrite;

    /** 40 % of the heap, requests of 512 KiB, one stream at a time; stored entries stay. */
    public BulkWriteOptions() {
    }

    /** With a durability and a time limit; null and 0 are the store's own. */
    public BulkWriteOptions(Durability durability, long timeout, TimeUnit timeoutUnit) {
        super(durability, timeout, timeoutUnit);
    }

    /** As others. */
    public BulkWriteOptions(BulkWriteOptions options) {
        super(options);
        bulkHeapPercent = options.bulkHeapPercent;
        maxRequestSize = options.maxRequestSize;
        perShardParallelism = options.perShardParallelism;
        streamParallelism = options.streamParallelism;
        overwrite = options.overwrite;
    }

    /** The share of the heap for entries that were sent and of which nothing is known yet. */
    public int getBulkHeapPercent() {
        return bulkHeapPercent;
    }

    /** Sets the share of the heap, 1 to 100. */
    public void setBulkHeapPercent(int bulkHeapPercent) {
        if (bulkHeapPercent < 1 || bulkHeapPercent > 100) {
            throw new IllegalArgumentException("the share of the heap is " + bulkHeapPercent
                    + " %: give 1 to 100");
        }
        this.bulkHeapPercent = bulkHeapPercent;
    }

    /** About the bytes of a request. */
    public int getMaxRequestSize() {
        return maxRequestSize;
    }

    /** Sets the bytes of a request: 64 KiB or more. */
    public void setMaxRequestSize(int maxRequestSize) {
        if (maxRequestSize < REQUEST_SIZE_MIN) {
            throw new IllegalArgumentException("the size of a request is " + maxRequestSize
                    + ": give " + REQUEST_SIZE_MIN + " or more");
        }
        this.maxRequestSize = maxRequestSize;
    }

    /** What was set: the server encodes and stores on all of its cores either way. */
    public int getPerShardParallelism() {
        return perShardParallelism;
    }

    /** Sets a number of 1 or more, which is kept alone. */
    public void setPerShardParallelism(int perShardParallelism) {
        this.perShardParallelism = positive(perShardParallelism);
    }

    /** How many streams are read at a time. */
    public int getStreamParallelism() {
        return streamParallelism;
    }

    /** Sets how many streams are read at a time. */
    public void setStreamParallelism(int streamParallelism) {
        this.streamParallelism = positive(streamParallelism);
    }

    private static int positive(int number) {
        if (number < 1) {
            throw new IllegalArgumentException(number + " at a time: give 1 or more");
        }
        return number;
    }

    /** Whether entries take the place of stored ones. */
    public boolean getOverwrite() {
        return overwrite;
    }

    /** Whether rows keep the time of their last change: they have none. */
    public boolean getUsePutResolve() {
        return false;
    }

    /**
     * Sets whether rows keep the time of their last change.
     *
     * @throws UnsupportedOperationException where they should: rows have versions, and no such time
     */
    public void setUsePutResolve(boolean value) {
        if (value) {
            throw new UnsupportedOperationException(
                    "rows have no time of their last change, so none can decide between two");
        }
    }

    /** Sets whether entries take the place of stored ones. */
    public void setOverwrite(boolean overwrite) {
        this.overwrite = overwrite;
    }
}
