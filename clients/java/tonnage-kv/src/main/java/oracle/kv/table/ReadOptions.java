package oracle.kv.table;

import java.util.concurrent.TimeUnit;
import oracle.kv.Consistency;

/** How rows are read. */
public class ReadOptions {
    private final Consistency consistency;
    private final long timeout;
    private final TimeUnit timeoutUnit;

    /** How to read; null and 0 are the store's own. */
    public ReadOptions(Consistency consistency, long timeout, TimeUnit timeoutUnit) {
        this.consistency = consistency;
        this.timeout = timeout;
        this.timeoutUnit = timeoutUnit;
    }

    /** How fresh what is read must be; null is the store's own. */
    public Consistency getConsistency() {
        return consistency;
    }

    /** The longest that the call may take; 0 is the store's own. */
    public long getTimeout() {
        return timeout;
    }

    /** The unit of that time. */
    public TimeUnit getTimeoutUnit() {
        return timeoutUnit;
    }
}
