package dev.tonnage.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** How a row or pair is written. Each setter returns the object itself. */
public final class WriteOptions {
    private Durability durability;
    private Duration ttl;
    private Duration timeout;

    /** As the server does it: durability `write`, and the time to live of the table. */
    public WriteOptions() {
    }

    /** What the write survives once it is acknowledged. */
    public WriteOptions durability(Durability durability) {
        this.durability = durability;
        return this;
    }

    /** How long the row or pair lives. */
    public WriteOptions ttl(Duration time) {
        this.ttl = Options.positive("ttl", time);
        return this;
    }

    /** The longest that the call may take. */
    public WriteOptions timeout(Duration time) {
        this.timeout = Options.positive("timeout", time);
        return this;
    }

    Duration timeout() {
        return timeout;
    }

    Map<String, Object> words() {
        Map<String, Object> words = new LinkedHashMap<>();
        if (durability != null) {
            words.put("durability", durability.word());
        }
        if (ttl != null) {
            words.put("ttl_ms", ttl.toMillis());
        }
        return words;
    }

    Durability durability() {
        return durability;
    }
}
