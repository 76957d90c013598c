package dev.tonnage.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tonnage.client.internal.Json;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void valuesAreReadAsTheyAreWritten() {
        Object value = Map.of("a", Arrays.asList(1L, null, true, "x\"\\\n€🚢"), "b", Map.of());
        assertEquals(value, Json.parse(Json.write(value)));
        assertEquals(List.of(new BigDecimal("1.50"), new BigDecimal("18446744073709551615"), -3L),
                Json.parse("[1.50, 18446744073709551615, -3]"));
        assertEquals("é", Json.parse("\"\\u00e9\""));
    }

    @Test
    void whatIsNoJsonIsAnErrorWithItsPosition() {
        for (String text : new String[] {"", "{", "[1,", "{\"a\" 1}", "\"x", "\"\\u12\"", "1-2",
            "tru", "[1] 2", "{1:2}", "\"\\", "[".repeat(10_000)}) {
            IllegalArgumentException error =
                    assertThrows(IllegalArgumentException.class, () -> Json.parse(text), text);
            assertEquals("JSON", error.getMessage().substring(0, 4));
        }
    }

    @Test
    void keysAreWrittenAsTheServerReadsThem() {
        assertEquals("/a%2Fb/%2D/-/%25", Key.of(List.of("a/b", "-"), List.of("%")).toString());
        assertEquals("/%FF%00", Key.ofBytes(List.of(new byte[] {-1, 0}), List.of()).toString());
        for (Key key : new Key[] {Key.of(List.of("a/b", "-"), List.of("%", "-")), Key.of(""),
            Key.ofBytes(List.of(new byte[] {-1, 0, '/'}), List.of(new byte[0]))}) {
            assertEquals(key, Key.parse(key.toString()));
        }
        assertThrows(IllegalArgumentException.class, () -> Key.parse("a"));
        assertThrows(IllegalArgumentException.class, () -> Key.parse("/%f"));
        assertEquals(Key.of("a"), Key.ofBytes(List.of("a".getBytes()), List.of()));
    }
}
