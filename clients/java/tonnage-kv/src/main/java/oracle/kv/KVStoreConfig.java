package oracle.kv;

import java.util.Properties;
import java.util.concurrent.TimeUnit;

/** Where a store is, and how it is called. */
public class KVStoreConfig implements Cloneable {
    /** Milliseconds of a call, unless another time is set. */
    public static final int DEFAULT_REQUEST_TIMEOUT = 5_000;
    /** Milliseconds to connect, unless another time is set. */
    public static final int DEFAULT_OPEN_TIMEOUT = 3_000;

    private String storeName;
    private String[] helperHosts;
    private long requestTimeoutMs = DEFAULT_REQUEST_TIMEOUT;
    private long openTimeoutMs = DEFAULT_OPEN_TIMEOUT;
    private long readTimeoutMs = 30_000;
    private Consistency consistency = Consistency.NONE_REQUIRED;
    private Durability durability = Durability.COMMIT_NO_SYNC;
    private RequestLimitConfig requestLimit = RequestLimitConfig.getDefault();
    private Properties securityProperties;

    /**
     * Where a store is.
     *
     * @param storeName any name: a server has one store
     * @param helperHostPort `HOST:PORT` of the HTTP listener of a server, or its address with
     *     `http://` or `https://`; of several the first that answers is taken
     */
    public KVStoreConfig(String storeName, String... helperHostPort) {
        setStoreName(storeName);
        setHelperHosts(helperHostPort);
    }

    @Override
    public KVStoreConfig clone() {
        try {
            return (KVStoreConfig) super.clone();
        } catch (CloneNotSupportedException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Sets the name. */
    public KVStoreConfig setStoreName(String storeName) {
        if (storeName == null) {
            throw new IllegalArgumentException("the store has no name");
        }
        this.storeName = storeName;
        return this;
    }

    /** The name. */
    public String getStoreName() {
        return storeName;
    }

    /** Sets the addresses. */
    public KVStoreConfig setHelperHosts(String... helperHostPort) {
        if (helperHostPort.length == 0) {
            throw new IllegalArgumentException("there is no address: give HOST:PORT");
        }
        helperHosts = helperHostPort.clone();
        return this;
    }

    /** The addresses. */
    public String[] getHelperHosts() {
        return helperHosts.clone();
    }

    /** Sets the longest that a connection may take. */
    public KVStoreConfig setSocketOpenTimeout(long timeout, TimeUnit unit) {
        openTimeoutMs = positive(timeout, unit);
        return this;
    }

    /** The longest that a connection may take. */
    public long getSocketOpenTimeout(TimeUnit unit) {
        return unit.convert(openTimeoutMs, TimeUnit.MILLISECONDS);
    }

    /** Sets a time that is kept alone. */
    public KVStoreConfig setSocketReadTimeout(long timeout, TimeUnit unit) {
        readTimeoutMs = positive(timeout, unit);
        return this;
    }

    /** The time that was set. */
    public long getSocketReadTimeout(TimeUnit unit) {
        return unit.convert(readTimeoutMs, TimeUnit.MILLISECONDS);
    }

    /** Sets the longest that a call may take which names no other time. */
    public KVStoreConfig setRequestTimeout(long timeout, TimeUnit unit) {
        requestTimeoutMs = positive(timeout, unit);
        return this;
    }

    private static long positive(long timeout, TimeUnit unit) {
        if (timeout <= 0) {
            throw new IllegalArgumentException("a time limit of " + timeout + ": give more than 0");
        }
        return Math.max(1, unit.toMillis(timeout));
    }

    /** The longest that a call may take which names no other time. */
    public long getRequestTimeout(TimeUnit unit) {
        return unit.convert(requestTimeoutMs, TimeUnit.MILLISECONDS);
    }

    /** Sets how fresh what is read must be. */
    public KVStoreConfig setConsistency(Consistency consistency) {
        this.consistency = java.util.Objects.requireNonNull(consistency, "consistency");
        return this;
    }

    /** How fresh what is read must be. */
    public Consistency getConsistency() {
        return consistency;
    }

    /** Sets what writes survive. */
    public KVStoreConfig setDurability(Durability durability) {
        this.durability = java.util.Objects.requireNonNull(durability, "durability");
        return this;
    }

    /** What writes survive. */
    public Durability getDurability() {
        return durability;
    }

    /** Sets limits, which are kept alone. */
    public KVStoreConfig setRequestLimit(RequestLimitConfig requestLimit) {
        this.requestLimit = requestLimit;
        return this;
    }

    /** The limits that were set. */
    public RequestLimitConfig getRequestLimit() {
        return requestLimit;
    }

    /** Sets properties. `tonnage.token` logs in by a token. */
    public KVStoreConfig setSecurityProperties(Properties properties) {
        securityProperties = properties;
        return this;
    }

    /** The properties that were set. */
    public Properties getSecurityProperties() {
        return securityProperties;
    }
}
