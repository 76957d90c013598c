package dev.tonnage.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.sink.SinkConnector;

/** Puts the records of topics into tables. Each of its tasks has a client of its own. */
public final class TonnageSinkConnector extends SinkConnector {
    static final String VERSION = "0.1.0";

    private Map<String, String> properties;

    /** One that is not started yet. */
    public TonnageSinkConnector() {
    }

    @Override
    public void start(Map<String, String> props) {
        // What is wrong with them is told before tasks are made.
        new SinkSettings(props).check();
        properties = Map.copyOf(props);
    }

    @Override
    public Class<? extends Task> taskClass() {
        return TonnageSinkTask.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        List<Map<String, String>> tasks = new ArrayList<>();
        for (int task = 0; task < maxTasks; task++) {
            tasks.add(properties);
        }
        return tasks;
    }

    @Override
    public void stop() {
        // Tasks close what they opened.
    }

    @Override
    public Config validate(Map<String, String> given) {
        Config config = super.validate(given);
        if (ServerSettings.isRight(config)) {
            new SinkSettings(given).tellFaults(config);
        }
        return config;
    }

    @Override
    public ConfigDef config() {
        return SinkSettings.DEFINITION;
    }

    @Override
    public String version() {
        return VERSION;
    }
}
