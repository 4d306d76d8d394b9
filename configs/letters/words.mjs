// Tables of configs/letters/people.mjs: what forms ask for, and how people say it. A row a line; cells are parted by `|`,
// entries of a cell by ` / `. In what people say `{v}` is the value.

const entries = (cell) => cell.split(" / ").map((entry) => entry.trim());
const rows = (text) =>
  text
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
const words = (text) => text.trim().split(/\s+/);

export const GIVEN = words(`
  Aaliyah Abel Ada Adrian Agnes Ahmed Aiko Alejandro Alma Amara Amelie Anders Anika Anton Antonia Ariel Arjun Astrid Ayo
  Beatriz Benita Björn Bogdan Brigid Camille Carlos Chiara Chidi Claudia Conor Dagmar Daniela Darius Deepa Dimitri Dolores
  Edvard Eilidh Elena Elias Emeka Emilia Enzo Esra Esther Eva Fabian Farah Felicity Ferdinand Fiona Florence Francesca
  Gabriel Gideon Giulia Gloria Grace Gustav Hana Harriet Hassan Hector Helmi Henrik Hilda Hiroshi Ida Ignacio Imani Ingrid
  Irina Isaac Isla Jakub Jamila Jan Jasper Joao Johanna Josephine Juan Judith Kai Karim Katarzyna Kenji Khadija Klara Kofi
  Lars Laszlo Leila Leonard Levi Lieke Linnea Lorenzo Louise Lucia Ludwig Magnus Malik Manuel Margit Maria Mariam Marta
  Mateo Matilda Maximilian Mehmet Mei Mikael Milan Mira Moritz Mustafa Nadia Naomi Natasha Nikolai Nina Oksana Oliver Omari
  Oskar Pablo Pascal Patricia Pavel Peng Philippa Priya Rafael Rania Rebecca Rei Renata Rohan Ronja Rosalind Rui Sabine Said
  Sandra Santiago Sarah Sebastian Selma Sienna Simona Sofia Stefan Sunita Sven Sylvie Tadeusz Tamar Tatiana Thandiwe Thomas
  Tobias Tomoko Ulrich Ursula Valentina Vera Viktor Vivek Walter Wei Wiktoria Xavier Yasmin Yohan Yusuf Zainab Zara Zoltan`);

export const FAMILY = words(`
  Abara Abdullah Acheampong Adeyemi Aguilar Akhtar Albrecht Almeida Andersson Antonov Arslan Asante Bakker Banerjee Barbieri
  Baumann Becker Bellini Berger Bianchi Björk Bondarenko Botha Boucher Brennan Brooks Bruun Caruso Castro Chaudhry Chen
  Christensen Clarke Colombo Conti Cooper Cruz Dahl Dalgaard Das Delgado Demir Desai Dlamini Dominguez Donnelly Duarte Dvorak
  Ekström Engel Espinoza Evans Fernandes Ferrari Fitzgerald Fontaine Forsberg Franke Friedman Fujita Gallagher Georgiou Ghosh
  Girard Gomes Gonzalez Graf Grant Guerra Gunnarsson Haas Hakimi Halvorsen Hamid Hashimoto Heikkinen Hernandez Holm Horvat
  Hughes Hussein Ibrahim Ivanova Jansen Jimenez Johansson Kamau Kapoor Kaur Kaya Keita Kelly Kim Kimura Koch Kone Kovac Kraus
  Krüger Kumar Laurent Lefevre Lehtonen Lewandowski Li Lim Lorenz Lund Mahmoud Makinen Maier Malhotra Marques Martens Mbeki
  McKenna Medina Mendes Meyerhoff Moreno Morita Mueller Murphy Nakamura Ndiaye Neumann Nguyen Nielsen Nowak Nunez O'Connor
  O'Neill Ochieng Odhiambo Oliveira Onyango Ortega Osei Ozturk Papadakis Park Patel Pavlov Pereira Perrin Petrov Popescu
  Quintero Rahman Ramirez Rasmussen Reyes Ricci Richter Rivera Roberts Romano Roth Rousseau Ruiz Saito Salazar Samuelsson
  Santos Sanchez Schmidt Schneider Sharma Sheikh Shimizu Siddiqui Silvestri Singh Soares Sorensen Stewart Suzuki Svensson
  Szabo Takahashi Tan Thompson Tkachenko Toth Tran Ueno Usman Valdez Van-Dijk Vargas Vasquez Virtanen Vogt Volkov Wagner Wang
  Watanabe Weiss Whitfield Wojcik Wright Yamada Yildiz Young Zhang Ziegler Zimmermann`);

export const TOWNS = words(`
  Aberdeen Amiens Antwerp Arezzo Augsburg Bilbao Bologna Bordeaux Bratislava Brighton Brno Bucharest Cadiz Calgary Cardiff
  Chester Coimbra Cologne Cordoba Cremona Delft Derby Dijon Dundee Durham Eindhoven Exeter Faro Freiburg Galway Gdansk
  Gothenburg Groningen Halifax Hamburg Hanover Helsinki Innsbruck Izmir Kassel Kaunas Kiel Leiden Leipzig Lille Limerick Linz
  Liverpool Ljubljana Lublin Lucca Lund Mainz Malaga Mannheim Marseille Merida Modena Montpellier Nantes Nicosia Norwich Odense
  Oulu Oviedo Oxford Padua Palermo Parma Pisa Plymouth Poznan Pula Reims Rennes Rostock Rotterdam Salerno Salzburg Sheffield
  Sibiu Siena Split Stavanger Szeged Tampere Tartu Toledo Toulouse Trieste Trondheim Turku Ulm Uppsala Utrecht Valencia Verona
  Vigo Vilnius Warsaw Winchester Wroclaw Zadar Zaragoza Zurich`);

export const COUNTRIES = words(
  "Argentina Australia Brazil Canada Chile Croatia Finland Greece Hungary India Japan Kenya Mexico Netherlands Norway Poland Romania Serbia Sweden Switzerland Turkey Ukraine Vietnam",
);

export const STREETS = words(
  "Acacia Alder Ash Beacon Beech Bishop Brook Cherry Church Clay Crescent Dock Ferry Field Forest Garden Glebe Grange Hawthorn Heath Hope Juniper Kiln Lark Laurel Market Mason Minster Moor Nelson Park Pine Poplar Prior Rose School Spring Sun Swan Temple Thorn Union Victoria Walnut Water West Windmill",
);
export const STREET_ENDINGS = words("Road Street Lane Avenue Close Drive Way Gardens Row Terrace Place");
export const FIRMS = words(
  "Foods Works Media Supplies Design Logistics Partners Instruments Bakery Textiles Optics Press Studio Energy Labs Motors Timber Systems Consulting",
);
export const HOSTS = words(
  "inbox.example mailer.example quickpost.example uni-mail.example letters.example webbox.example",
);
export const NOUNS = words(
  "Amber Anvil Atlas Aurora Birch Cinder Cobalt Compass Copper Coral Crane Delta Ember Falcon Fern Flint Granite Harbor Heron Ivory Jasmine Kestrel Lantern Lotus Maple Meadow Meteor Mosaic Nimbus Onyx Orchid Otter Pebble Phoenix Prism Quartz Raven Ridge Sable Saffron Sierra Silver Sparrow Summit Thistle Tundra Velvet Violet Willow Zephyr",
);
export const JOBS = entries(
  "accountant / nurse / software developer / carpenter / primary school teacher / chef / bus driver / architect / plumber / journalist / lab technician / pharmacist / gardener / sales manager / tailor / paramedic / translator / welder / hairdresser / lawyer / farmer / photographer / civil engineer / receptionist / warehouse worker / research assistant / retired / student",
);
export const COLOURS = words(
  "red black white silver navy beige turquoise orange brown purple grey yellow maroon cream",
);

/**
 * What forms ask for besides choices: kind of value | kinds of control | labels | keys of records | what people say.
 * `role` values are names of other people than the one who writes.
 */
export const ASPECTS = rows(`
person | text | Name / Full name / Your name / Applicant / Contact person / Guest / Customer name / Participant / Requested by / First and last name / Name of applicant / Who is asking? / Student / Account holder / Tenant / Visitor / Buyer / Name (as on your ID) / Person responsible / Organiser / Author / Patient name / Holder / Who are you? / Booked by | name / full_name / applicant / contact / requester / person / customer_name / user | my name is {v} / I am {v} / this is {v} writing / {v} here / it's {v}
given | text | First name / Given name / Forename / Call name / What do friends call you? | first_name / given_name / fname | 
family | text | Last name / Family name / Surname / Second name | last_name / surname / lname / family_name | 
email | email,text | Email / E-mail address / Mail / Your email / Where can we write to? / Contact email / Electronic mail / Send the confirmation to / Email for the invoice / Reply address | email / e_mail / mail_address / mailto | you can write to {v} / my mail is {v} / please answer to {v} / reach me at {v} / send everything to {v} / e-mail: {v} / best by mail: {v}
tel | tel,text | Phone / Telephone number / Mobile number / Cell phone / Daytime phone / Call back number / Contact number / How can we call you? / Number to reach you / Phone (mobile) / Landline | phone / tel / mobile / cell / phone_no | my number is {v} / you can call me on {v} / ring me at {v} / my mobile: {v} / phone {v} / I can be reached under {v} / just call {v}
street | text | Street / Address / Street and house number / Address line 1 / Where do you live? / Delivery address / Home address / Billing address / Address of the property / Deliver to | street / address / addr / address_1 / location | I live at {v} / please deliver to {v} / the address is {v} / it is for {v} / we are at {v} / my flat is in {v}
town | text | City / Town / Place of residence / Town or city / Municipality / Place / Where are you based? / Departure city / Location | city / town / place / residence | I live in {v} / we are based in {v} / I come from {v} / we moved to {v} last year / it is in {v} / I am writing from {v}
birthplace | text | Place of birth / Birthplace / Born in / City of birth | birthplace / born_in | I was born in {v} / I grew up in {v}, where I was born / originally I am from {v}
postcode | text | Postcode / ZIP code / Postal code / ZIP | zip / postcode / postal_code | the postcode is {v} / postal code {v} / ZIP {v}
country | select,text | Country / Nationality of passport / Country of birth / Citizenship / Where are you from? | country / nationality / citizenship | I am from {v} / my passport is from {v} / I have a passport of {v} / I was born in {v} / I hold citizenship of {v}
birth | date | Date of birth / Birthday / Birth date / DOB / When were you born? | dob / birth_date / born / birthday | I was born on {v} / my birthday is {v} / born {v} / date of birth {v}
age | number,text | Age / How old are you? / Age in years / Your age | age / years_old | I am {v} years old / I turned {v} this spring / I am {v} / aged {v}
start | date | Start date / From / Arrival / Arrival date / Begin / Pick-up date / First day / Beginning on / Starting from / Valid from / Date of arrival / Departure date / Period from | start / from / arrival / begin / date_from / starts_on | from {v} / starting on {v} / we arrive on {v} / I would like to begin on {v} / it begins on {v} / as of {v}
end | date | End date / Until / Departure / To / Return date / Last day / Ends on / Return on / Leaving on / Valid until / Period to / Expected return | end / until / to / departure / date_to / ends_on | until {v} / we leave on {v} / it ends on {v} / back on {v} / up to {v}
day | date | Date / Day / On which day? / Date of the event / Preferred date / When did it happen? / Date of purchase / Appointment date / Wedding date / Delivery date / Day of travel / Incident date / Requested for / Invoice date / Date of issue / When? | date / day / event_date / on / purchase_date / wanted_on | on {v} / it happened on {v} / {v} would suit me / I bought it on {v} / the date is {v} / it is about {v} / please make it {v}
time | time,text | Time / At what time? / Preferred time / Start time / Time of arrival / Pick-up time / When should we call? / Hour / Opening time / Appointment time / Delivery time / Time of the incident | time / at / hour / start_time / time_of_day | at {v} / around {v} would be best / please come at {v} / it was {v} / we open at {v} / ideally {v} / {v} if possible
people | number,text | Number of people / Guests / How many of you? / Party size / Persons / Seats / Number of participants / Attendees / Travellers / Tickets / Head count / Places needed | people / guests / pax / seats / persons / party_size | there will be {v} of us / we are {v} people / {v} seats please / a table for {v} / {v} of us are coming / I need {v} tickets
count | number,text | Quantity / How many? / Number of items / Copies / Units / Amount of pieces / Number of boxes / Rooms / Nights / Number of nights / Number of bags / Pieces of luggage / Lessons / Bottles / Chairs / Pages | quantity / qty / number / count / units | {v} of them / I would like {v} / we need {v} / please reserve {v} / make it {v} / it should be {v} in total
hours | number,text | Hours per week / Duration in hours / Length in minutes / Weeks / Duration (days) / Years in the job / Months of experience / How long (in weeks)? | hours / duration / weeks / length | for {v} hours / it takes {v} hours / about {v} weeks / {v} months so far / {v} years by now
money | number,text | Budget / Maximum price / Amount / Price / Deposit / Donation / Salary expectation / Costs / How much would you like to give? / Total amount (EUR) / Purchase price / Amount paid / Estimated loss / Turnover / Monthly rent / Refund amount | budget / amount / price / cost / total / sum | my budget is {v} euros / I can spend {v} euros / it cost {v} euros / I paid EUR {v} / the price was {v} euros / {v} euros at most / I would give {v} euros
measure | number,text | Weight (kg) / Height in cm / Width / Area / Distance (km) / Length in metres / Mileage / Floor area / Volume in litres / Size in m2 / Power (kW) / Temperature | weight / height / size / area / distance / km | it weighs {v} kg / it is {v} cm high / about {v} square metres / {v} kilometres / it measures {v} metres / {v} litres
code | text | Order number / Reference / Booking code / Membership number / Serial number / Customer ID / Invoice number / Policy number / Licence number / Ticket number / Passport number / Article number / Registration number / Tax number / Case number / Student ID / Library card / Voucher code / Contract no. / Model number | order_no / ref / member_id / serial / id_number / booking_ref / invoice_no / policy_no | the number is {v} / my reference is {v} / it says {v} on the papers / number {v} / order {v} / it is registered under {v} / card no. {v} / (no. {v})
account | text | Bank account / Account number / Account for the refund / Bank details | account / bank_account / iban_no | my account is {v} / please pay into {v} / the bank account is {v}
plate | text | Licence plate / Vehicle registration / Car number / Registration of the car | plate / vehicle_reg / car_no | our car is {v} / licence plate {v} / the car has the plate {v}
firm | text | Company / Employer / Organisation / Business name / Institution / Where do you work? / Name of the firm / Company name / Affiliation / Insurance company / Supplier / Exhibitor | company / employer / organisation / firm | I work for {v} / I am writing on behalf of {v} / my company is {v} / we are {v} / I am with {v} / employed at {v}
job | text | Profession / Job title / Position / Occupation / Role / What do you do? / Current position / Line of work | job / profession / position / occupation | I work as a {v} / I am a {v} / by profession {v} / my job is {v} / I have been a {v} for years
school | text | School / University / Place of study / Last school attended / College | school / university / college | I study at {v} / I graduated from {v} / I go to {v}
url | url,text | Website / Homepage / Link / Web address / Profile / Link to your work / Online shop / URL of the page | website / url / link / homepage | my website is {v} / see {v} / more at {v} / you will find it under {v} / {v} has it all
product | text | Product / Item / Device / Model / Brand and model / Equipment / Which machine? / Make of the car / Article / Instrument / What do you want to sell? / Object / Subject of the request | product / item / device / model / article | it is about {v} / I bought {v} / I have {v} / the item is {v} / we are talking about {v} / I would like to hire {v}
colour | text,select | Colour / Color / Which colour? / Paint / Colour of the item | colour / color | in {v} please / it is {v} / the {v} one / I would like it in {v}
title | text | Title / Book title / Name of the project / Team name / Name of the event / Title of the talk / Film / Subject / Name of your pet / Band / Group / Campaign / Title of the work / Event / Nickname | title / project / team / event_name / subject | it is called "{v}" / the title is "{v}" / under the name {v} / we call it {v} / "{v}" is the name
role | text | Emergency contact / Name of your child / Partner's name / Referred by / Family doctor / Supervisor / Teacher / Witness / Collected by / Landlord / Referee / Second applicant / Your manager / Contact at the company / Co-author / Name of the guest / Recommended by / Beneficiary / Accompanied by / Trainer | {r} | {R}
issue | textarea,text | Problem / Message / Description / Reason / What happened? / Comments / Details / Your question / Description of the fault / Additional information / Purpose / Special requests / Notes / Anything else? / Reason for the request / Damage / Symptoms / Wishes / Tell us more | problem / message / reason / comment / details / notes / purpose | {v}
health | textarea,text | Allergies / Illnesses / Known allergies / Chronic conditions / Diet / Medical conditions / Dietary needs | allergies / conditions / diet | I am allergic to {v} / I have to avoid {v} / I react badly to {v} / because of {v} I have to be careful
`).map(([value, kinds, labels, keys, say]) => ({
  value,
  kinds: kinds.split(","),
  labels: entries(labels),
  keys: entries(keys),
  say: entries(say ?? "").filter(Boolean),
}));

/** Who other people are: part of a label | key of a record | what is said. */
export const ROLES = rows(`
Emergency contact | emergency_contact | if anything happens please call {v} / in an emergency ring {v}
Name of your child | child | it is for my son {v} / it is for my daughter {v} / our little one, {v},
Partner's name | partner / spouse | my husband is {v} / my wife is {v} / I am married to {v}
Referred by | referred_by | {v} told me about you / a friend, {v}, sent me
Family doctor | doctor / gp | my doctor is {v} / I am with Dr {v}
Supervisor | supervisor | my supervisor is {v} / I report to {v}
Teacher | teacher | my teacher is {v} / I am taught by {v}
Witness | witness | {v} saw it all / {v} was there and can confirm it
Collected by | collected_by | {v} will pick it up / {v} is going to collect it for me
Landlord | landlord | we rent from {v} / the owner of the flat is {v}
Referee | reference | {v} can tell you more about me / for a reference ask {v}
Second applicant | second_applicant | I apply together with {v} / {v} applies with me
Your manager | manager | my boss is {v} / my manager {v} has agreed
Contact at the company | contact_person / agent | I spoke to {v} / {v} of your company knows about it
Co-author | co_author | I wrote it together with {v} / {v} is the other author
Name of the guest | guest / plus_one | I will bring {v} along / {v} comes with me
Recommended by | recommended_by | {v} recommended you / I was recommended to you by {v}
Beneficiary | beneficiary | it should go to {v} / in favour of {v}
Accompanied by | companion | {v} will come along / I am travelling with {v}
Trainer | trainer / coach | {v} trains us / our coach is {v}
`).map(([label, keys, say]) => ({ label, keys: entries(keys), say: entries(say) }));

/** Choices: labels | option = what people say / ... ; option = ... */
export const CHOICES = rows(`
Contact method / How should we contact you? / Preferred contact / Answer by | Phone = please give me a ring / just call me / Email = drop me a mail / by e-mail please / Post = send me a letter / by ordinary mail
Room type / Which room? / Kind of room / Accommodation | Single room = a room just for me / one bed is enough / Double room = a room for the two of us / with a bed for two / Family room = one big room for all of us and the kids / Dormitory = a bed in a shared room
Payment / How will you pay? / Payment method / Method of payment | Cash = I will bring cash / in notes and coins / Credit card = you can charge my Visa / by card / Bank transfer = I will wire the money / by transfer / Invoice = please bill my company / send me a bill
Delivery / Shipping / How should we deliver? / Shipping method | Standard = there is no hurry / ordinary shipping will do / Express = I need it as fast as possible / it is urgent / Pick-up in store = I will fetch it at the shop / I collect it myself
Level / Experience / How experienced are you? / Skill level | Beginner = I have never done this before / I am new to it / Intermediate = I know the basics / I have done it a few times / Advanced = I have done it for many years / I am an old hand
Marital status / Civil status / Family status | Single = I live on my own / I am not married / Married = my wife and I / we married last year / Divorced = my ex-husband and I split up / since my divorce / Widowed = since my husband died / after my wife's death
Employment / Employment status / Work situation | Employed = I have a regular job / I am on the payroll of a firm / Self-employed = I run my own business / I work for myself / Unemployed = I am out of work / I lost my job / Retired = I am a pensioner / I no longer work / Student = I am still at university
Transport / How do you travel? / Means of transport / Arrival by | Car = we come by car / I will drive / Train = by rail / I take the train / Plane = we fly in / by air / Bus = by coach / On foot = I walk there
Seat / Seating / Where would you like to sit? / Seat preference | Window = by the window / where I can look out / Aisle = on the aisle / I need to get up often / Middle = in the middle is fine
Type of request / Kind of enquiry / What is it about? / Category | Complaint = I am not happy at all / I have to complain / Question = I only want to ask something / Order = I would like to buy / Return = I want to send it back / Cancellation = please cancel it
Urgency / Priority / How urgent is it? | Low = it can wait / no hurry at all / Medium = within the next days would be fine / High = please hurry / it cannot wait
Rating / How satisfied were you? / Overall impression / Satisfaction | Very satisfied = everything was perfect / I loved it / Satisfied = it was fine / Neutral = it was neither good nor bad / Dissatisfied = I was disappointed / Very dissatisfied = it was a disaster
Time of day / Preferred time of day / Part of the day | Morning = before noon / early in the day / Afternoon = after lunch / Evening = after work / late in the day
How often / Frequency / Rhythm | Daily = every day / each morning / Weekly = once a week / every seven days / Monthly = once a month / twelve times a year / Yearly = once a year
Reason for leaving / Why do you cancel? / Ground for termination | Too expensive = it costs too much / I can no longer afford it / Moving away = I am moving to another town / Not used = I never have time for it / Unhappy with service = I am fed up with your service
Size / Which size? / Garment size | Small = a small one / the smallest / Medium size = middle-sized / Large = a big one / Extra large = the biggest you have
Licence class / Vehicle type / Type of vehicle | Passenger car = an ordinary car / my hatchback / Van = a van / my transporter / Motorcycle = my motorbike / a two-wheeler with an engine / Truck = a lorry
Property type / Kind of building / Type of home | Detached house = a house that stands alone / Terraced house = a house in a row / Flat = an apartment / on the fourth floor of a block / Farm = an old farmhouse
Heating / Type of heating / Heated by | Gas = we heat with gas / Oil = there is an oil tank / Heat pump = a heat pump does the job / Wood = we burn logs
Degree / Highest education / Qualification / Education | No degree = I left without a certificate / High school = I finished secondary school / Bachelor's = I have a BA / I did a bachelor / Master's = I hold an MSc / I have a master's / PhD = I did a doctorate
Relationship / Relation to applicant / How do you know the person? | Parent = I am her mother / I am his father / Sibling = she is my sister / he is my brother / Friend = we are friends / Colleague = we work together / Neighbour = we live next door
Language / Preferred language / Correspondence in | English = in English please / German = I prefer German / auf Deutsch would be easier / French = in French if you can / Spanish = I would rather speak Spanish / Italian = Italian is my mother tongue
Membership / Type of membership / Plan / Tariff | Basic = the cheapest one / without any extras / Standard plan = the usual one / Premium = with everything / the best you offer / Family = for the whole family / Trial = I want to try it first
Age group / Category of ticket / Fare | Adult = I am grown up / a full-price ticket / Child = it is for a kid / for my six-year-old / Senior = I am past 65 / with a pensioner's discount / Student fare = with my student card
Species / Pet / What animal is it? | Hamster = a hamster / Horse = our mare / a pony / Tortoise = a tortoise / Parrot = a bird that talks / Guinea pig = a guinea pig
Season / Best time of year / When in the year? | Spring = in April or May / Summer = in the hottest months / in July / Autumn = when the leaves fall / in October / Winter = when there is snow / in January
Condition / State of the item / Wear | New = never used / still in its box / Like new = used once or twice / Used = it has some scratches / Broken = it no longer works
Operating system / System / Which computer? | Windows = a Windows PC / Mac = a MacBook / an Apple machine / Linux = I run Ubuntu / Android = an Android phone / iOS = an iPhone
Browser / Which browser? | Firefox = I use Firefox / Chrome = in Chrome / Safari = with Safari / Other = some other one
Newsletter frequency / Updates / How often may we write? | Never = please no mails / Weekly digest = once a week is enough / Every update = tell me everything at once
Course / Which course? / Class | Pottery = working with clay / Watercolour = painting with water and brush / Cooking = learning to cook / Yoga = stretching on a mat / Guitar = playing the guitar / Photography = taking better pictures
Sport / Discipline / Activity | Swimming = in the pool / Tennis = with a racket / Climbing = up the wall / Football = with eleven in a team / Chess = on 64 squares
Genre / Kind of music / Style | Jazz = improvised, with a saxophone / Classical = Bach and Mozart / Rock = loud guitars / Folk = old songs of the country / Electronic = from synthesizers
Floor plan / Table / Where shall we put you? | Inside = indoors please / Terrace = outside in the sun / Bar = at the counter / Private room = a room to ourselves
Insurance / Cover / Which protection? | None = I need no insurance / Partial cover = the small insurance / Full cover = insured against everything
Visa type / Purpose of stay / Why do you travel? | Tourism = on holiday / Business = for work / to meet clients / Study = for a semester at the university / Family visit = to see my relatives
Blood group / Blood type | A = my blood group is A / B = blood group B / AB = blood group AB / O = I am a universal donor, blood group O
Dominant hand / Which hand do you write with? / Handedness | Left = I am left-handed / Right = I am right-handed / Both = I use either hand
Meal plan / Board / Which meals? | Room only = without any meals / Breakfast = with breakfast / Half board = breakfast and dinner / Full board = with all meals
Source / How did you hear about us? / Where did you find us? | Search engine = I found you through Google / Friends = friends told me / Newspaper = I saw your advert in the paper / Social media = I saw you on Instagram / Fair = we met at a trade fair
Format / Kind of book / Edition | Hardcover = bound, with a hard cover / Paperback = the soft one / E-book = for my reader / Audiobook = I want to listen to it
Position on the team / Where do you play? / Role in the team | Goalkeeper = I stand in goal / Defender = at the back / Midfielder = in the middle of the field / Striker = I score the goals
Wine / Drink / To drink | Red wine = a glass of red / White wine = something white / Beer = a beer / Juice = something without alcohol / Water = just water
Direction / Trip / One way or return? | One way = I am not coming back / only there / Return = there and back / Multi-city = with a stop in a third town
`).map(([labels, options]) => ({ labels: entries(labels), options: optionsOf(options) }));

/** Lists of which several may be chosen: labels | option = what people say / ... */
export const LISTS = rows(`
Languages / Spoken languages / Which languages do you speak? / Language skills | Dutch = Dutch / some Dutch / Polish = Polish / Arabic = Arabic / Japanese = Japanese / Turkish = Turkish / Swedish = Swedish
Days / Available on / Which days suit you? / Working days | Monday = Mondays / Tuesday = Tuesdays / Wednesday = Wednesdays / Thursday = Thursdays / Friday = Fridays
Skills / Strengths / What are you good at? / Competences | Teamwork = working with others / Driving = driving / Cooking = cooking / Accounting = keeping the books / Design = graphic design / Welding = welding
Interests / Topics / What interests you? / Areas of interest | Art = painting and art / Sports = sports / Travel = travelling / Science = science / Music = music / History = history
Equipment / What do you need? / Technical equipment / Things to provide | Projector = a projector / Microphone = a microphone / Whiteboard = a whiteboard / Loudspeakers = loudspeakers / Extension lead = an extension lead
Services / Extras / Additional services / Options | Cleaning = cleaning / Breakfast basket = a breakfast basket / Parking = a parking space / Airport shuttle = a lift from the airport / Late check-out = leaving later
Instruments / Which instruments do you play? | Piano = the piano / Violin = the violin / Drums = the drums / Flute = the flute / Trumpet = the trumpet
Household / Pets at home / Animals | Fish = fish / Birds = birds / Reptiles = snakes or lizards / Rodents = hamsters / Horses = horses
Symptoms / Complaints / Trouble with | Headache = headaches / Fever = a temperature / Cough = coughing / Back pain = a sore back / Dizziness = feeling dizzy
Documents / Enclosed / Attachments | Passport copy = a copy of my passport / Certificate = the certificate / Photo = a photograph / Cover letter = a cover letter / Receipt = the receipt
Toppings / Ingredients / With | Mushrooms = mushrooms / Olives = olives / Onions = onions / Peppers = peppers / Extra cheese = more cheese
Software / Programs you know / Tools | Photoshop = Photoshop / AutoCAD = AutoCAD / Word = Word / PowerPoint = PowerPoint / Git = Git
Sports / Which sports do you do? | Running = running / Cycling = cycling / Skiing = skiing / Rowing machine = the rowing machine / Boxing = boxing
`).map(([labels, options]) => ({ labels: entries(labels), options: optionsOf(options) }));

/** Boxes: labels | what people say for yes / ... | for no / ... */
export const FLAGS = rows(`
Parking space needed / I need parking / Reserve a parking space | we need somewhere to leave the car / please keep a parking space for us / I have to park nearby | we come without a car / no parking needed
Wheelchair access / Step-free access / Barrier-free | I use a wheelchair / my mother cannot climb stairs / we need a ramp | stairs are no problem
Newsletter / Subscribe to the newsletter / Keep me informed / Send me news | please keep me posted about your news / I would like your newsletter / put me on your mailing list | please no newsletter / I do not want any advertising
Gift wrap / It is a gift / Wrap as a present | it is a present, so please wrap it / could you wrap it nicely | no wrapping needed, it is for myself
First visit / I am new here / First time | I have never been to you before / it is my first time | I have been with you before / you know me already
Express handling / Urgent / Rush order | it is really urgent / please treat it as urgent | there is no rush / take your time
Receipt required / I need an invoice / Send a receipt | please send me a receipt / I need an invoice for my company | I need no receipt
Travel insurance / Add insurance / Insure it | please insure it / I would like the insurance too | I need no insurance, I have my own
I agree to be photographed / Photos allowed / Photo consent | you may take pictures of me / photographs are fine with me | please take no pictures of me
Own equipment / I bring my own tools / Own material | I have my own equipment / I bring my own | I will have to borrow the equipment / I have nothing of my own
Overnight stay / Stay overnight / Sleepover | I would stay overnight / we want to sleep there | we go home in the evening
Childcare / Childcare needed / With children | we need someone to watch the kids / please look after our children meanwhile | the children stay at home
Air conditioning / Cooling / Room with air conditioning | it has to be cool inside / we would like air conditioning | air conditioning is not needed
Balcony / With balcony / Outside space | it should have a balcony / I would love a balcony | a balcony is not important
Furnished / With furniture | the flat should have furniture / furnished please | I bring all my own furniture
Driving licence / I can drive / Licence held | I have a driving licence / I can drive | I do not drive
Available at weekends / Weekend work / Works on Saturdays | I can also work on Saturdays / weekends are fine for me | not at weekends please
Member of the association / I am a member / Member already | I have been a member for years | I am not a member yet
Remote participation / Join online / Online | I will join by video / I take part from home over the internet | I will be there in person
Return the old device / Take the old one away / Collect the old appliance | please take the old one with you | the old one stays here
Assembly / Install it for me / Assembly service | please put it together for me / I would like you to install it | I will put it together myself
Late arrival / We arrive late / Arrival after 10 pm | we will get there late at night | we will be there in good time
Accident / Was anybody injured? / Persons injured | somebody was hurt / I hurt my arm | luckily nobody was hurt
Police informed / Reported to the police | I have told the police / the police were here | the police do not know about it
Under warranty / Still in guarantee / Guarantee | it is still under guarantee / I have had it for less than a year | the guarantee is over
Confidential / Keep it private / Anonymous | please tell nobody / keep it between us / my name should not appear | you may tell others
Certificate wanted / Issue a certificate / Confirmation of participation | I need a certificate at the end / please write me a confirmation | a certificate is not needed
Backup available / I have a copy / Data saved | I have saved everything / there is a copy | nothing was saved, sadly
Allow substitutes / Replace if sold out / Alternative product | if it is sold out send something similar | please send nothing else if it is sold out
Pets allowed / With pets / Pet on board | our hamster comes with us / we bring our parrot | we come without animals
Smoking / Smoking room / Smoking allowed | I smoke / we would like to smoke | I am a non-smoker / nobody smokes
Terms accepted / I accept the rules / I agree / Conditions read | I agree to your terms / I have read the rules and accept them | 
Call me back / Request a call / Call-back wanted | please call me back / I would like a call | you need not call
Same billing address / Bill to the same address | the bill goes to the same address | the bill goes to another address
Helper / I can help to set up / Help on the day | I can help you to set up / I am happy to lend a hand | I cannot help on that day
Second-hand / Used parts are fine | a used one would do / second-hand is fine with me | only new parts please
Vaccinated / Vaccination up to date | all vaccinations are up to date | the vaccinations are missing
`).map(([labels, yes, no]) => ({ labels: entries(labels), yes: entries(yes), no: entries(no).filter(Boolean) }));

/** What people write about in sentences of their own: values of descriptions. */
export const ISSUES = entries(
  "the screen stays black after the update / the left handle came off / water drips from under the sink / I cannot log in any more / the box was empty / it makes a grinding noise when it starts / two of the plates are chipped / we would like to see the old town / the heating does not get warm / somebody scratched the door / I would like to learn something new / please ring at the back door / the key is with the neighbour / the ink leaks / I was charged twice / the sleeves are too short / the lights flicker at night / we are celebrating a silver wedding / the battery lasts an hour at most / the gate is too narrow for a lorry / our basement was flooded / the zip is stuck / the meeting was moved / a quiet corner would be nice / the letters are too small to read / a cot for the baby / the parcel was wet / I need it for my thesis / the roof leaks above the stairs / the wrong colour was sent / the engine stops at traffic lights / the music was too loud / we want to build a playground / my password was rejected / one wheel is bent / the coffee machine is out of order / a vegetable garden for the school / the page does not load / it smells of burning / the ordered part does not fit",
);
export const SUBSTANCES = entries(
  "penicillin / hazelnuts / pollen / shellfish / asthma / lactose / latex / diabetes / bee stings / eggs / migraine / strawberries / aspirin / celery / high blood pressure / sesame",
);
export const PRODUCTS = entries(
  "a Lumina X200 camera / a Brevio coffee grinder / the Halden 3 oak table / a Corvo mountain tent / an Aster 12 laptop / a Kettwig sewing machine / the Tarn rain jacket / a Volta drill / the Nordhus lamp / a Pico 5 printer / a Solvang sofa / a used cello / the Rila hiking shoes / a Mistral fan / a Fenway electric piano / a Dorado canoe / two pallets of tiles / a chest of drawers / a steel wardrobe / the Orla pushchair",
);
export const FORMS = entries(
  "Booking request / Application / Registration / Contact us / Order form / Support ticket / Enrolment / Claim form / Reservation / Membership / Request a quote / Feedback / Change of address / Appointment / Sign up / Report a problem / Event proposal / Rental agreement / Grant application / Cancellation / Visitor pass / Complaint / Survey / Job application / Course registration / Refund request / Insurance claim / Travel request / Repair order / Interview form / Admission / Donation / Competition entry / Table reservation / Your details / Almost there / Tell us about it / Step 1 of 1 / Personal data / Hire request",
);
export const PLACES = entries(
  "Riverside Library / City Hall / Alpine Club / Green Grocer / Northgate Museum / Sunrise Hotel / Bluebird Music School / Central Station / Hillside Clinic / Oakwood College / Metro Gym / Old Mill Theatre / Lakeview Hostel / Fairwind Sailing / Stonebridge Bank / Little Acorn Nursery / Kingsway Cinema / Meadow Farm / Phoenix Studio / Silverline Coaches",
);
/** Sentences that ask for nothing; `{p}` is a person, `{n}` a number, `{d}` a date, `{t}` a time, `{w}` a town. */
export const ASIDES = entries(
  "The weather has been awful lately / I hope you are all well / {p} sends regards / My cousin {p} had the same trouble last year / I wrote to you {n} weeks ago and nobody answered / We met briefly in {w} / It has been {n} years since my last visit / My train leaves at {t} / Your colleague {p} was very helpful on the phone / I read about you in the paper of {d} / Last time, on {d}, it took ages / My sister in {w} recommended something else / Thank you for your patience / I have tried to call you {n} times / Excuse my handwriting / {p} from next door says hello / As always, time is short / We love what you do / I am looking forward to it / Please do not be angry with me",
);
export const GREETINGS = entries(
  "Dear Sir or Madam, / Hello, / Hi, / Good morning, / Dear team, / To whom it may concern, / Hi there, / Good evening, / Greetings, / Dear all, / Hey,",
);
export const CLOSINGS = entries(
  "Kind regards / Best wishes / Yours sincerely / Many thanks / Cheers / Best / Thank you / Warm regards / See you soon / All the best / Yours / Thanks in advance",
);
/** What a clause may begin with. */
export const OPENINGS = entries(
  "by the way, / also, / besides, / please note: / I should add: / as you may know, / if possible, / of course / and / one more thing: / just so you know, / to be clear, / well,",
);
/** Keys and values of records that no form asks for. */
export const EXTRA_KEYS = rows(`
created | 2025-11-03
status | open
channel | web
priority_flag | 0
assigned | team B
source | import
tags | none
version | 3
`);

/** `option = what people say / what people say / option = ...`: an entry with `=` begins an option. */
function optionsOf(cell) {
  const options = [];
  for (const entry of entries(cell)) {
    const [text, said] = entry.split(" = ");
    if (said === undefined) options.at(-1)?.say.push(text);
    else options.push({ text: text.trim(), say: [said.trim()] });
  }
  return options;
}
