package dev.tonnage.client;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** A statement of SQL with the values of its parameters. */
public final class Statement {
    private final String text;
    private final List<Object> parameters;
    private Duration timeout;

    private Statement(String text, List<Object> parameters) {
        this.text = text;
        this.parameters = parameters;
    }

    /**
     * A statement.
     *
     * @param text with `?` or `$1`, `$2` for parameters
     * @param parameters null, numbers, texts, truth values, byte[], UUID, or dates and times of
     *     java.time
     */
    public static Statement of(String text, Object... parameters) {
        return new Statement(text, Arrays.asList(parameters));
    }

    /** The longest that the statement may run. */
    public Statement timeout(Duration time) {
        timeout = Options.positive("timeout", time);
        return this;
    }

    /** As the server takes it. */
    Map<String, Object> words() {
        List<Object> values = new ArrayList<>();
        List<String> types = new ArrayList<>();
        for (Object parameter : parameters) {
            add(parameter, values, types);
        }
        Map<String, Object> words = new LinkedHashMap<>();
        words.put("sql", text);
        if (!values.isEmpty()) {
            words.put("parameters", values);
            words.put("types", types);
        }
        if (timeout != null) {
            words.put("timeout_ms", timeout.toMillis());
        }
        return words;
    }

    private static void add(Object value, List<Object> values, List<String> types) {
        boolean isPlain = value == null || value instanceof Boolean || value instanceof String
                || value instanceof Long || value instanceof Integer || value instanceof Short
                || value instanceof Byte || value instanceof BigDecimal
                || value instanceof BigInteger;
        if (isPlain) {
            values.add(value);
            types.add(null);
            return;
        }
        if (value instanceof Double || value instanceof Float) {
            // As text: JSON has no word for infinity, and a whole number would be a LONG.
            values.add(value.toString());
            types.add("DOUBLE");
            return;
        }
        if (value instanceof byte[]) {
            values.add(Base64.getEncoder().encodeToString((byte[]) value));
            types.add("BINARY");
        } else if (value instanceof UUID) {
            values.add(value.toString());
            types.add("UUID");
        } else if (value instanceof LocalDate) {
            values.add(value.toString());
            types.add("DATE");
        } else if (value instanceof LocalTime) {
            values.add(value.toString());
            types.add("TIME");
        } else if (value instanceof LocalDateTime) {
            values.add(value.toString());
            types.add("TIMESTAMP(9)");
        } else if (value instanceof Instant) {
            values.add(LocalDateTime.ofInstant((Instant) value, ZoneOffset.UTC).toString());
            types.add("TIMESTAMP(9)");
        } else {
            throw new IllegalArgumentException("a parameter is a " + value.getClass().getName()
                    + ": give a text, a number, a truth value, bytes, a UUID, a date or a time");
        }
    }
}
