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

    /** How long the row or pair lives: zero is for ever, whatever its table says. */
    public WriteOptions ttl(Duration time) {
        this.ttl = Duration.ZERO.equals(time) ? time : Options.positive("ttl", time);
        return this;
    }

    /** The longest that the call may take. */
    public WriteOptions timeout(Duration time) {
        this.timeout = Options.positive("timeout", time);
        return this;
    }

    /** The longest that the call may take; null for that of the options of the client. */
    public Duration timeout() {
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

    /** How long the row or pair lives; null for as long as the table has it. */
    Duration ttl() {
        return ttl;
    }

    Durability durability() {
        return durability;
    }
}
