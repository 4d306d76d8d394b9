import "survey-core/survey-core.css";
import { Model } from "survey-core";
import { renderSurvey } from "survey-js-ui";

const survey = new Model({
  title: "Lost luggage",
  description: "Tell us what happened and we will look for it.",
  completeText: "Report luggage",
  completedHtml: "<h3>Thank you. We are looking for your luggage.</h3>",
  checkErrorsMode: "onComplete",
  elements: [
    { type: "text", name: "passenger", title: "Passenger", isRequired: true },
    { type: "text", name: "email", title: "E-mail", inputType: "email", validators: [{ type: "email" }] },
    { type: "dropdown", name: "airport", title: "Airport", isRequired: true, choices: [{ value: "FRA", text: "Frankfurt" }, { value: "LHR", text: "London Heathrow" }, { value: "CDG", text: "Paris Charles de Gaulle" }, { value: "VIE", text: "Vienna" }] },
    { type: "text", name: "flightDate", title: "Date of the flight", inputType: "date" },
    { type: "tagbox", name: "contents", title: "Contents", choices: ["Clothes", "Electronics", "Medicine", "Sports equipment", "Toys"] },
    { type: "text", name: "weight", title: "Weight in kg", inputType: "number", min: 1, max: 50 },
    { type: "radiogroup", name: "kind", title: "Type of luggage", colCount: 3, choices: [{ value: 1, text: "Suitcase" }, { value: 2, text: "Backpack" }, { value: 3, text: "Box" }] },
    { type: "boolean", name: "insured", title: "Is your luggage insured?" },
  ],
});
survey.onComplete.add(async (sender, options) => {
  options.showSaveInProgress();
  const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ report: sender.data }) });
  const { saved } = await answer.json();
  if (saved) options.showSaveSuccess("Saved");
  else options.showSaveError("Could not be saved");
});
renderSurvey(survey, document.getElementById("app"));
