package oracle.kv.table;

import java.util.concurrent.TimeUnit;
import oracle.kv.Durability;

/** How rows are written. */
public class WriteOptions implements Cloneable {
    private Durability durability;
    private long timeout;
    private TimeUnit timeoutUnit;
    private boolean updateTtl;
    private int identityCacheSize;

    /** As the store does it. */
    public WriteOptions() {
    }

    /** How to write; null and 0 are the store's own. */
    public WriteOptions(Durability durability, long timeout, TimeUnit timeoutUnit) {
        this.durability = durability;
        setTimeout(timeout, timeoutUnit);
    }

    /** As others. */
    public WriteOptions(WriteOptions options) {
        this(options.durability, options.timeout, options.timeoutUnit);
        updateTtl = options.updateTtl;
        identityCacheSize = options.identityCacheSize;
    }

    /** Sets what writes survive. */
    public WriteOptions setDurability(Durability durability) {
        this.durability = durability;
        return this;
    }

    /** Sets the longest that the call may take. */
    public WriteOptions setTimeout(long timeout, TimeUnit timeoutUnit) {
        if (timeout < 0 || timeout > 0 && timeoutUnit == null) {
            throw new IllegalArgumentException("a time limit of " + timeout + " " + timeoutUnit);
        }
        this.timeout = timeout;
        this.timeoutUnit = timeoutUnit;
        return this;
    }

    /** What writes survive; null is the store's own. */
    public Durability getDurability() {
        return durability;
    }

    /** The longest that the call may take; 0 is the store's own. */
    public long getTimeout() {
        return timeout;
    }

    /** The unit of that time. */
    public TimeUnit getTimeoutUnit() {
        return timeoutUnit;
    }

    /** Sets a choice that is kept alone: the time to live of a row always takes effect. */
    public WriteOptions setUpdateTTL(boolean flag) {
        updateTtl = flag;
        return this;
    }

    /** Sets a number that is kept alone: the server numbers rows by itself. */
    public WriteOptions setIdentityCacheSize(int identityCacheSize) {
        this.identityCacheSize = identityCacheSize;
        return this;
    }

    /** The number that was set. */
    public int getIdentityCacheSize() {
        return identityCacheSize;
    }

    /** The choice that was set. */
    public boolean getUpdateTTL() {
        return updateTtl;
    }
}
