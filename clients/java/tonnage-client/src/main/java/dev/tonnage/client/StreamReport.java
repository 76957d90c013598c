package dev.tonnage.client;

import dev.tonnage.client.internal.Json;
import java.util.Map;

/** What became of the entries of a stream. */
public final class StreamReport {
    private final String name;
    private long sent;
    private long acknowledged;
    private long inserted;
    private long existed;
    private long overtaken;
    private long failed;
    private boolean isCompleted;

    StreamReport(String name) {
        this.name = name;
    }

    /** Takes over counts of the server. Those of several tables add up. */
    void add(Map<String, Object> counts) {
        inserted += Json.whole(counts.get("inserted"));
        existed += Json.whole(counts.get("existed"));
        overtaken += Json.whole(counts.get("overtaken"));
        failed += Json.whole(counts.get("failed"));
    }

    void addSent(long entries) {
        sent += entries;
    }

    void addAcknowledged(long entries) {
        acknowledged += entries;
    }

    void addFailed(long entries) {
        failed += entries;
    }

    void complete() {
        isCompleted = true;
    }

    /** The name of the stream. */
    public String name() {
        return name;
    }

    /** Entries that were sent. */
    public long sent() {
        return sent;
    }

    /** Of those, entries that are known to have their durability, to exist, or to have failed. */
    public long acknowledged() {
        return acknowledged;
    }

    /** Entries that were stored. */
    public long inserted() {
        return inserted;
    }

    /** Entries whose keys were stored already; with REPLACE they took the place of those. */
    public long existed() {
        return existed;
    }

    /** Entries in whose place a later write of the same key stands. */
    public long overtaken() {
        return overtaken;
    }

    /** Entries that could not be stored. */
    public long failed() {
        return failed;
    }

    /** Whether everything was read, sent and acknowledged. */
    public boolean isCompleted() {
        return isCompleted;
    }

    @Override
    public String toString() {
        return name + ": " + sent + " sent, " + inserted + " inserted, " + existed + " existed, "
                + failed + " failed" + (isCompleted ? "" : ", not completed");
    }
}
