import "survey-core/survey-core.css";
import { Model } from "survey-core";
import { renderSurvey } from "survey-js-ui";

const survey = new Model({
  title: "Museum visit",
  completedHtml: "<h3>Danke für Ihren Besuch</h3>",
  elements: [
    { type: "text", name: "visitor", title: "Visitor's name", isRequired: true },
    { type: "radiogroup", name: "exhibition", title: "Exhibition", choices: [{ value: "g", text: "Glass" }, { value: "m", text: "Maps" }, { value: "t", text: "Toys" }] },
    { type: "checkbox", name: "liked", title: "What did you like?", choices: ["Guides", "Café", "Shop", "Garden"] },
    { type: "dropdown", renderAs: "select", name: "came", title: "How did you come?", choices: [{ value: 1, text: "On foot" }, { value: 2, text: "By tram" }, { value: 3, text: "By car" }] },
    { type: "rating", name: "grade", title: "Grade", rateMax: 5 },
    { type: "boolean", name: "again", title: "Will you come again?" },
    { type: "comment", name: "remarks", title: "Remarks" },
  ],
});
survey.onCompleting.add((sender, options) => {
  if (sender.getValue("visitor") === undefined) options.allow = false;
});
survey.onComplete.add((sender, options) => {
  options.showSaveInProgress();
  fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ postId: "museum", surveyResult: sender.data }) })
    .then((answer) => (answer.ok ? options.showSaveSuccess() : options.showSaveError()));
});
renderSurvey(survey, document.getElementById("app"));
