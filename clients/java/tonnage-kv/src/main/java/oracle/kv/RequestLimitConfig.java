package oracle.kv;

/** Limits of requests, which are kept and not used. */
public class RequestLimitConfig {
    /** Requests at a time. */
    public static final int DEFAULT_MAX_ACTIVE_REQUESTS = 100;
    /** A share in percent. */
    public static final int DEFAULT_REQUEST_THRESHOLD_PERCENT = 90;
    /** A share in percent. */
    public static final int DEFAULT_NODE_LIMIT_PERCENT = 80;

    private final int maxActiveRequests;
    private final int requestThresholdPercent;
    private final int nodeLimitPercent;

    /** Limits, which are kept alone: the server has limits of its own. */
    public RequestLimitConfig(int maxActiveRequests, int requestThresholdPercent,
            int nodeLimitPercent) {
        this.maxActiveRequests = maxActiveRequests;
        this.requestThresholdPercent = requestThresholdPercent;
        this.nodeLimitPercent = nodeLimitPercent;
    }

    /** What was set. */
    public int getMaxActiveRequests() {
        return maxActiveRequests;
    }

    /** What was set. */
    public int getRequestThresholdPercent() {
        return requestThresholdPercent;
    }

    /** What was set. */
    public int getNodeLimitPercent() {
        return nodeLimitPercent;
    }

    /** The limits above. */
    public static RequestLimitConfig getDefault() {
        return new RequestLimitConfig(DEFAULT_MAX_ACTIVE_REQUESTS,
                DEFAULT_REQUEST_THRESHOLD_PERCENT, DEFAULT_NODE_LIMIT_PERCENT);
    }
}
