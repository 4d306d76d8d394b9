import "survey-core/survey-core.css";
import { Model } from "survey-core";
import { renderSurvey } from "survey-js-ui";

const survey = new Model({
  title: "Accident at work",
  completedHtml: "<h3>Your report was stored</h3>",
  showQuestionNumbers: "off",
  completeText: "Send report",
  pages: [
    {
      name: "who",
      elements: [
        { type: "text", name: "person", title: "Injured person", isRequired: true },
        { type: "dropdown", name: "site", title: "Site", isRequired: true, placeholder: "Select a site", choices: [{ value: "hal", text: "Assembly hall" }, { value: "yrd", text: "Yard" }, { value: "lab", text: "Laboratory" }, { value: "off", text: "Offices" }] },
        { type: "text", inputType: "date", name: "day", title: "Happened on" },
        { type: "tagbox", name: "body", title: "Parts of the body", choices: [{ value: 1, text: "Head" }, { value: 2, text: "Hand" }, { value: 3, text: "Back" }, { value: 4, text: "Foot" }] },
      ],
    },
    {
      name: "what",
      elements: [
        { type: "buttongroup", name: "severity", title: "Severity", choices: [{ value: "s", text: "Slight" }, { value: "m", text: "Medium" }, { value: "h", text: "Heavy" }] },
        { type: "boolean", name: "doctor", title: "A doctor was called", renderAs: "checkbox" },
        { type: "text", name: "clinic", title: "Clinic", visibleIf: "{severity} notempty" },
        { type: "text", name: "cost", title: "Damage to property", maskType: "currency", maskSettings: { prefix: "$", saveMaskedValue: false } },
        { type: "slider", name: "lost", title: "Days lost", min: 0, max: 30 },
        { type: "comment", name: "story", title: "Course of events" },
      ],
    },
  ],
});
survey.onComplete.add((sender, options) => {
  options.showSaveInProgress();
  fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ form: 81, data: sender.data }) })
    .then((answer) => (answer.ok ? options.showSaveSuccess() : options.showSaveError()));
});
renderSurvey(survey, document.getElementById("app"));
