import DefaultTheme from "vitepress/theme";
import Demo from "./Demo.vue";
import Layout from "./Layout.vue";
import Reports from "./Reports.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ app }) {
    app.component("Demo", Demo);
    app.component("Reports", Reports);
  },
};
