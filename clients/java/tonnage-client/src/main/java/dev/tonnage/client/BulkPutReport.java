package dev.tonnage.client;

import java.util.List;
import java.util.function.ToLongFunction;

/** What became of the entries of a bulk put. Every entry that was sent is accounted for. */
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

    /** Entries that could not be stored. */
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
