package dev.tonnage.client.internal;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON. Objects are Map, lists are List, numbers are Long or BigDecimal. */
public final class Json {
    private static final int DEPTH_MAX = 200;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /**
     * Reads one value.
     *
     * @throws IllegalArgumentException for what is not JSON, with its position
     */
    public static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.space();
        if (json.at < text.length()) {
            throw json.wrong("nothing more");
        }
        return value;
    }

    /**
     * Reads an object.
     *
     * @throws IllegalArgumentException for what is none
     */
    public static Map<String, Object> parseObject(String text) {
        return object(parse(text));
    }

    /** A value as the object that it must be. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Object value) {
        if (value instanceof Map) {
            return (Map<String, Object>) value;
        }
        throw new IllegalArgumentException("the server's answer has no object where one belongs");
    }

    /** A value as the list that it must be. */
    @SuppressWarnings("unchecked")
    public static List<Object> list(Object value) {
        if (value instanceof List) {
            return (List<Object>) value;
        }
        throw new IllegalArgumentException("the server's answer has no list where one belongs");
    }

    /** A value as a whole number; 0 without it. */
    public static long whole(Object value) {
        return value instanceof Number ? ((Number) value).longValue() : 0;
    }

    /** A value as text; null without it. */
    public static String text(Object value) {
        return value == null ? null : value.toString();
    }

    private IllegalArgumentException wrong(String wanted) {
        return new IllegalArgumentException("JSON, character " + at + ": expected " + wanted);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private Object value(int depth) {
        if (depth > DEPTH_MAX) {
            throw wrong("at most " + DEPTH_MAX + " levels");
        }
        space();
        if (at >= text.length()) {
            throw wrong("a value");
        }
        switch (text.charAt(at)) {
            case '{':
                return members(depth);
            case '[':
                return items(depth);
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong("a value");
        }
        at += word.length();
        return value;
    }

    private Map<String, Object> members(int depth) {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        if (ends('}')) {
            return members;
        }
        while (true) {
            space();
            if (at >= text.length() || text.charAt(at) != '"') {
                throw wrong("a name");
            }
            String name = string();
            space();
            expect(':');
            members.put(name, value(depth + 1));
            if (ends('}')) {
                return members;
            }
            expect(',');
        }
    }

    private List<Object> items(int depth) {
        List<Object> items = new ArrayList<>();
        at++;
        if (ends(']')) {
            return items;
        }
        while (true) {
            items.add(value(depth + 1));
            if (ends(']')) {
                return items;
            }
            expect(',');
        }
    }

    private boolean ends(char end) {
        space();
        if (at < text.length() && text.charAt(at) == end) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char wanted) {
        if (at >= text.length() || text.charAt(at) != wanted) {
            throw wrong("`" + wanted + "`");
        }
        at++;
    }

    private String string() {
        StringBuilder told = new StringBuilder();
        at++;
        while (at < text.length()) {
            char next = text.charAt(at++);
            if (next == '"') {
                return told.toString();
            }
            told.append(next == '\\' ? escaped() : next);
        }
        throw wrong("the end of a text");
    }

    private char escaped() {
        if (at >= text.length()) {
            throw wrong("an escape");
        }
        char kind = text.charAt(at++);
        int plain = "\"\\/".indexOf(kind);
        if (plain >= 0) {
            return kind;
        }
        int control = "bfnrt".indexOf(kind);
        if (control >= 0) {
            return "\b\f\n\r\t".charAt(control);
        }
        if (kind != 'u' || at + 4 > text.length()) {
            throw wrong("an escape");
        }
        try {
            int code = Integer.parseInt(text.substring(at, at + 4), 16);
            at += 4;
            return (char) code;
        } catch (NumberFormatException error) {
            throw wrong("four hexadecimal digits");
        }
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-0123456789.eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        try {
            boolean isWhole = digits.indexOf('.') < 0 && digits.indexOf('e') < 0
                    && digits.indexOf('E') < 0;
            if (!isWhole) {
                return new BigDecimal(digits);
            }
            BigInteger whole = new BigInteger(digits);
            return whole.bitLength() < 64 ? (Object) whole.longValue() : new BigDecimal(whole);
        } catch (NumberFormatException error) {
            at = start;
            throw wrong("a value");
        }
    }

    /** Writes maps, lists, numbers, truth values, null, and everything else as text. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value == null || value instanceof Boolean || value instanceof Number) {
            out.append(value);
        } else if (value instanceof Map) {
            char lead = '{';
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                out.append(lead);
                writeText(member.getKey().toString(), out);
                out.append(':');
                write(member.getValue(), out);
                lead = ',';
            }
            out.append(lead == '{' ? "{}" : "}");
        } else if (value instanceof Iterable) {
            char lead = '[';
            for (Object item : (Iterable<?>) value) {
                out.append(lead);
                write(item, out);
                lead = ',';
            }
            out.append(lead == '[' ? "[]" : "]");
        } else {
            writeText(value.toString(), out);
        }
    }

    private static void writeText(String text, StringBuilder out) {
        out.append('"');
        for (int index = 0; index < text.length(); index++) {
            char next = text.charAt(index);
            if (next == '"' || next == '\\') {
                out.append('\\').append(next);
            } else if (next < ' ') {
                out.append(String.format("\\u%04x", (int) next));
            } else {
                out.append(next);
            }
        }
        out.append('"');
    }
}
