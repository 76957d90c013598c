package dev.tonnage.client;

import dev.tonnage.client.internal.Json;
import java.util.Map;

/** What became of a conditional write. */
public final class WriteResult {
    private final boolean isStored;
    private final long version;
    private final int operation;

    private WriteResult(boolean isStored, long version, int operation) {
        this.isStored = isStored;
        this.version = version;
        this.operation = operation;
    }

    static WriteResult of(String json) {
        Map<String, Object> told = Json.parseObject(json);
        boolean isStored = Boolean.TRUE.equals(told.get("stored"));
        return new WriteResult(isStored, Json.whole(told.get("version")),
                isStored ? -1 : (int) Json.whole(told.get("operation")));
    }

    /** Whether it was carried out. If not, a condition did not hold, and nothing was done. */
    public boolean isStored() {
        return isStored;
    }

    /** The version that was written; if nothing was, the one that is stored, and 0 for none. */
    public long version() {
        return version;
    }

    /** The number of the operation whose condition did not hold, from 0; -1 if all did. */
    public int failedOperation() {
        return operation;
    }
}
