package dev.tonnage.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** How a bulk put loads. Each setter returns the object itself. */
public final class BulkPutOptions {
    private static final int REQUEST_BYTES_MIN = 64 << 10;
    /** Entries that must be read before a share of them means anything. */
    private static final long SHARE_FROM_ENTRIES = 1_000;

    private OnExisting onExisting = OnExisting.KEEP;
    private Durability durability = Durability.WRITE;
    private String errorsMax;
    private long failedMax = Long.MAX_VALUE;
    private double failedPercentMax = 100;
    private Duration ttl;
    private Duration timeout;
    private int streamParallelism = 1;
    private int requestBytesMax = 512 << 10;
    private long memoryBytesMax = Runtime.getRuntime().maxMemory() / 10 * 4;
    private boolean tellsEntries = true;
    private Cancel cancel;

    /** Keeps stored entries, durability `write`, one stream at a time, 40 % of the heap. */
    public BulkPutOptions() {
    }

    /** What becomes of entries whose keys are stored: they are kept unless it is given. */
    public BulkPutOptions onExisting(OnExisting onExisting) {
        this.onExisting = onExisting;
        return this;
    }

    /** What entries survive once they are reported: `write` unless it is given. */
    public BulkPutOptions durability(Durability durability) {
        this.durability = durability;
        return this;
    }

    /** How many entries may fail before the load stops: any number unless it is given. */
    public BulkPutOptions errorsMax(long count) {
        errorsMax = Long.toString(count);
        failedMax = count;
        failedPercentMax = 100;
        return this;
    }

    /**
     * The share of entries that may fail, in percent of those that were read. It is judged from the
     * thousandth entry on, and at the end.
     */
    public BulkPutOptions errorsMaxPercent(double percent) {
        errorsMax = percent + "%";
        failedMax = Long.MAX_VALUE;
        failedPercentMax = percent;
        return this;
    }

    /** How long the entries live. */
    public BulkPutOptions ttl(Duration time) {
        ttl = Options.positive("ttl", time);
        return this;
    }

    /** The longest that each stream may take. */
    public BulkPutOptions timeout(Duration time) {
        timeout = Options.positive("timeout", time);
        return this;
    }

    /**
     * How many streams are read at a time: 1 unless it is given. Each has a connection for each
     * table.
     */
    public BulkPutOptions streamParallelism(int streams) {
        if (streams < 1) {
            throw new IllegalArgumentException("streamParallelism is " + streams
                    + ": give 1 or more");
        }
        streamParallelism = streams;
        return this;
    }

    /** About the bytes of a message: 512 KiB unless it is given, 64 KiB at least. */
    public BulkPutOptions requestBytesMax(int bytes) {
        if (bytes < REQUEST_BYTES_MIN) {
            throw new IllegalArgumentException("requestBytesMax is " + bytes + ": give "
                    + REQUEST_BYTES_MIN + " or more");
        }
        requestBytesMax = bytes;
        return this;
    }

    /**
     * About the memory of entries that were sent and of which nothing is known yet: 40 % of the
     * heap unless it is given. All streams that are read at a time share it.
     */
    public BulkPutOptions memoryBytesMax(long bytes) {
        if (bytes < REQUEST_BYTES_MIN) {
            throw new IllegalArgumentException("memoryBytesMax is " + bytes + ": give "
                    + REQUEST_BYTES_MIN + " or more");
        }
        memoryBytesMax = bytes;
        return this;
    }

    /**
     * Whether streams hear of entries that exist or failed: they do unless it is `false`. Without
     * it entries are not kept in memory once they are sent, and are only counted.
     */
    public BulkPutOptions tellsEntries(boolean tells) {
        tellsEntries = tells;
        return this;
    }

    /** Who may call it off. */
    public BulkPutOptions cancel(Cancel cancel) {
        this.cancel = cancel;
        return this;
    }

    Map<String, Object> words(String job) {
        Map<String, Object> words = new LinkedHashMap<>();
        words.put("job", job);
        words.put("on_existing", onExisting.word());
        words.put("durability", durability.word());
        if (errorsMax != null) {
            words.put("errors_max", errorsMax);
        }
        if (ttl != null) {
            words.put("ttl", ttl.toMillis() + "ms");
        }
        words.put("reports", tellsEntries ? "all" : "first");
        words.put("reports_max", 0);
        return words;
    }

    /** Whether so many failed entries of so many are too many. The server judges its own alike. */
    boolean isExceeded(long failed, long read, boolean isAtEnd) {
        boolean isShareJudged = isAtEnd || read >= SHARE_FROM_ENTRIES;
        return failed > failedMax || isShareJudged && failed * 100.0 > failedPercentMax * read;
    }

    /** As the server is told it. */
    String errorsMax() {
        return errorsMax;
    }

    Duration timeout() {
        return timeout;
    }

    int streamParallelism() {
        return streamParallelism;
    }

    int requestBytesMax() {
        return requestBytesMax;
    }

    long memoryBytesMax() {
        return memoryBytesMax;
    }

    boolean tellsEntries() {
        return tellsEntries;
    }

    Cancel cancel() {
        return cancel;
    }
}
