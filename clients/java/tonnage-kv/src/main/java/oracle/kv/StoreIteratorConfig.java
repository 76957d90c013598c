package oracle.kv;

/** How an iteration runs. */
public class StoreIteratorConfig {
    private int maxConcurrentRequests;
    private int maxResultsBatches;

    /** As the server does it. */
    public StoreIteratorConfig() {
    }

    /** How many requests run side by side: the server decides, and this is kept alone. */
    public StoreIteratorConfig setMaxConcurrentRequests(int maxConcurrentRequests) {
        this.maxConcurrentRequests = maxConcurrentRequests;
        return this;
    }

    /** What was set. */
    public int getMaxConcurrentRequests() {
        return maxConcurrentRequests;
    }

    /** How many batches wait: about 2 MiB do, and this is kept alone. */
    public StoreIteratorConfig setMaxResultsBatches(int maxResultsBatches) {
        this.maxResultsBatches = maxResultsBatches;
        return this;
    }

    /** What was set. */
    public int getMaxResultsBatches() {
        return maxResultsBatches;
    }
}
