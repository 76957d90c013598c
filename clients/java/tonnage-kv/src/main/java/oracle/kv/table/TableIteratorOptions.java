package oracle.kv.table;

import java.util.concurrent.TimeUnit;
import oracle.kv.Consistency;
import oracle.kv.Direction;

/** How an iteration over rows runs. */
public class TableIteratorOptions extends ReadOptions {
    private final Direction direction;
    private final int maxConcurrentRequests;
    private final int resultsBatchSize;

    /** How to iterate; null and 0 are the store's own. */
    public TableIteratorOptions(Direction direction, Consistency consistency, long timeout,
            TimeUnit timeoutUnit) {
        this(direction, consistency, timeout, timeoutUnit, 0, 0);
    }

    /** How to iterate. Requests at a time and sizes of batches are kept alone. */
    public TableIteratorOptions(Direction direction, Consistency consistency, long timeout,
            TimeUnit timeoutUnit, int maxConcurrentRequests, int resultsBatchSize) {
        super(consistency, timeout, timeoutUnit);
        if (direction == null) {
            throw new IllegalArgumentException("there is no direction");
        }
        if (maxConcurrentRequests < 0 || resultsBatchSize < 0) {
            throw new IllegalArgumentException("numbers below 0");
        }
        this.direction = direction;
        this.maxConcurrentRequests = maxConcurrentRequests;
        this.resultsBatchSize = resultsBatchSize;
    }

    /** The order. */
    public Direction getDirection() {
        return direction;
    }

    /** What was set: the server decides. */
    public int getMaxConcurrentRequests() {
        return maxConcurrentRequests;
    }

    /** What was set: batches have about 2 MiB. */
    public int getResultsBatchSize() {
        return resultsBatchSize;
    }
}
