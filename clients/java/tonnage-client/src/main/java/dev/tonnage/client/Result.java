package dev.tonnage.client;

import dev.tonnage.client.internal.Json;
import java.util.Collections;
import java.util.Map;

/** The answer to a statement: rows, or what it changed. Close one with rows. */
public final class Result implements AutoCloseable {
    private final Rows rows;
    private final Map<String, Object> told;
    private final TonnageException error;

    Result(Rows rows, Map<String, Object> told, TonnageException error) {
        this.rows = rows;
        this.told = told;
        this.error = error;
    }

    /** Whether it has rows, be they none. */
    public boolean hasRows() {
        return rows != null;
    }

    /**
     * The rows as they come.
     *
     * @throws TonnageException of a fetch-all: why this statement failed
     */
    public Rows rows() {
        check();
        if (rows == null) {
            throw new IllegalStateException("the statement has no rows: it changes something");
        }
        return rows;
    }

    private void check() {
        if (error != null) {
            throw error;
        }
    }

    /** Why a statement of a fetch-all failed; null where it did not. */
    public TonnageException error() {
        return error;
    }

    /** How many rows it inserted, updated and deleted; 0 for rows and definitions. */
    public long changed() {
        check();
        return count("inserted") + count("updated") + count("deleted");
    }

    /** Of those, how many it inserted. */
    public long inserted() {
        check();
        return count("inserted");
    }

    private long count(String name) {
        return told == null ? 0 : Json.whole(told.get(name));
    }

    /** What the server says of a change or a definition, as JSON has it; empty for rows. */
    public Map<String, Object> outcome() {
        check();
        return told == null ? Collections.emptyMap() : told;
    }

    @Override
    public void close() {
        if (rows != null) {
            rows.close();
        }
    }
}
