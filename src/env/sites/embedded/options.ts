/**
 * Texts of selects, radio groups and checkbox groups, shared by the forms so that a held-out form meets known options
 * under a new label.
 */

/** Holds what the page shows, and what the control posts. The two always differ. */
export interface Option {
  readonly text: string;
  readonly value: string;
}

/** Options of these texts; a text `Shown=posted` names its posted value, otherwise it is the text in snake case. */
export function options(...texts: string[]): readonly Option[] {
  return texts.map((entry) => {
    const [text = "", value] = entry.split("=");
    return { text, value: value ?? text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_") };
  });
}

export const AGES = options("Adult=age_a", "Child=age_c", "Student=age_t", "Senior=age_s");
export const SIZES = options("Small=s", "Medium=m", "Large=l");
export const LEVELS = options("Beginner=1", "Skilled=2", "Expert=3");
export const DAYS = options("Monday=mon", "Tuesday=tue", "Wednesday=wed", "Thursday=thu", "Friday=fri", "Saturday=sat");
export const PAYMENTS = options("Cash", "Credit", "Invoice");
export const MEALS = options("Vegan", "Vegetarian=veggie", "Meat", "Fish");
export const SEASONS = options("Spring=q1", "Summer=q2", "Autumn=q3", "Winter=q4");
export const DAY_PARTS = options("Morning=am", "Afternoon=pm", "Evening=eve");
export const FORMATS = options("Print", "Audio", "Video");
export const LANGUAGES = options("English=en", "Spanish=es", "French=fr", "German=de", "Arabic=ar");
export const PRIORITIES = options("Low=p3", "Normal=p2", "High=p1");
export const SPECIES = options("Dog", "Cat", "Rabbit", "Bird", "Horse");
export const SEXES = options("Male", "Female");
export const TRANSPORTS = options("Train", "Bus", "Car", "Ferry");
export const CONTACTS = options("Email=by_mail", "Phone=by_call", "Letter=by_post");
export const PLANTS = options("Tree", "Flower", "Herb", "Shrub");
export const STYLES = options("Jazz", "Rock", "Folk", "Opera");
export const AREAS = options("North=n", "South=s", "East=e", "West=w");
export const SPORTS = options("Tennis", "Hockey", "Rowing", "Football");
export const INTERVALS = options("Daily=d1", "Weekly=d7", "Monthly=d30");
export const ROOMS = options("Single=r1", "Double=r2", "Suite=r3");
export const PLACES = options("Hall", "Terrace", "Window", "Bar");
export const COLORS = options("White=fff", "Black=000", "Orange=f80", "Purple=80f");
export const PROBLEMS = options("Light", "Sign", "Pavement", "Drain");
export const CHECKS = options("Checkup", "Vaccine", "Injury");
export const HOMES = options("House", "Flat", "Farm");
