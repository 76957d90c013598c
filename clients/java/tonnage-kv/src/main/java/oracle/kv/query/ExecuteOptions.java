package oracle.kv.query;

import java.util.concurrent.TimeUnit;
import oracle.kv.Consistency;
import oracle.kv.Durability;

/** How a statement runs. What is set is kept, and the server's own settings hold. */
public class ExecuteOptions {
    private Consistency consistency;
    private Durability durability;
    private long timeout;
    private TimeUnit timeoutUnit;

    /** Nothing in particular. */
    public ExecuteOptions() {
    }

    /** The consistency that was set. */
    public Consistency getConsistency() {
        return consistency;
    }

    /** Sets a consistency. */
    public ExecuteOptions setConsistency(Consistency consistency) {
        this.consistency = consistency;
        return this;
    }

    /** The durability that was set. */
    public Durability getDurability() {
        return durability;
    }

    /** Sets a durability. */
    public ExecuteOptions setDurability(Durability durability) {
        this.durability = durability;
        return this;
    }

    /** The time that was set. */
    public long getTimeout() {
        return timeout;
    }

    /** The unit of the time. */
    public TimeUnit getTimeoutUnit() {
        return timeoutUnit;
    }

    /** Sets a time. */
    public ExecuteOptions setTimeout(long timeout, TimeUnit timeoutUnit) {
        this.timeout = timeout;
        this.timeoutUnit = timeoutUnit;
        return this;
    }
}
