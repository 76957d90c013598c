package dev.tonnage.client;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * What became of the entries of a bulk put. Once it has ended well every entry is inserted,
 * existed, was overtaken or failed; of one that was stopped the server tells no counts of what is
 * not acknowledged.
 */
public final class BulkPutReport {
    private final List<StreamReport> streams;
    private final double seconds;

    BulkPutReport(List<StreamReport> streams, double seconds) {
        this.streams = List.copyOf(streams);
        this.seconds = seconds;
    }

    /** The streams, in the order in which they were given. */
    public List<StreamReport> streams() {
        return streams;
    }

    /** How long it took. */
    public double seconds() {
        return seconds;
    }

    /** Entries that were stored. */
    public long inserted() {
        return sum(StreamReport::inserted);
    }

    /** Entries whose keys were stored already; with REPLACE they took the place of those. */
    public long existed() {
        return sum(StreamReport::existed);
    }

    /** Entries in whose place a later write of the same key stands. */
    public long overtaken() {
        return sum(StreamReport::overtaken);
    }

    /**
     * Entries that could not be stored. Those that fit no column are among them, and were not sent.
     */
    public long failed() {
        return sum(StreamReport::failed);
    }

    /** Entries that were sent. */
    public long sent() {
        return sum(StreamReport::sent);
    }

    /** Of those, entries of which it is known what became of them. */
    public long acknowledged() {
        return sum(StreamReport::acknowledged);
    }

    private long sum(ToLongFunction<StreamReport> count) {
        return streams.stream().mapToLong(count).sum();
    }

    @Override
    public String toString() {
        return sent() + " sent, " + inserted() + " inserted, " + existed() + " existed, " + failed()
                + " failed, in " + String.format(java.util.Locale.ROOT, "%.1f s", seconds);
    }
}
