from flask import Flask, render_template, request, jsonify

app = Flask(__name__)

@app.route('/')
def home():
    return "<h1>Made forms</h1>"

@app.route('/settings', methods=['GET'])
def settings():
    # read by the scripted form
    reply = {
        'title': "Travel grant",
        "strict": False, "limit": None,
        "fields": [
            {"name": "given", "label": "Given Name", "type": "text"},  # shown first
            {"name": "born", "label": "Date of Birth", "type": "date"},
            {"name": "level", "label": "Level", "type": "radio", "options": ["Junior", "Senior"]},
            {"name": "news", "label": "Send news", "type": "checkbox"},
        ],
    }
    return jsonify(reply)

@app.route('/academic-research/job-application', methods=['GET', 'POST'])
def form_0():
    if request.method == 'POST':
        data = request.form.to_dict()
        return jsonify({
            "message": "Form 0 Received!",
            "data": data
        })
    return render_template('job-application.html')

@app.route('/academic-research/grant-application', methods=['GET', 'POST'])
def form_1():
    if request.method == 'POST':
        data = request.form.to_dict()
        return jsonify({
            "message": "Form 1 Received!",
            "data": data
        })
    return render_template('grant-application.html')

@app.route('/academic-research/course-registration', methods=['GET', 'POST'])
def form_2():
    if request.method == 'POST':
        data = request.form.to_dict()
        return jsonify({
            "message": "Form 2 Received!",
            "data": data
        })
    return render_template('course-registration.html')

@app.route('/professional-business/membership-application', methods=['GET', 'POST'])
def form_3():
    if request.method == 'POST':
        data = request.form.to_dict()
        return jsonify({
            "message": "Form 3 Received!",
            "data": data
        })
    return render_template('membership-application.html')

@app.route('/tech-software/support-request', methods=['GET', 'POST'])
def form_4():
    if request.method == 'POST':
        data = request.form.to_dict()
        return jsonify({
            "message": "Form 4 Received!",
            "data": data
        })
    return render_template('support-request.html')

@app.route('/legal-compliance/contractor-onboarding', methods=['GET', 'POST'])
def form_5():
    if request.method == 'POST':
        data = request.form.to_dict()
        return jsonify({
            "message": "Form 5 Received!",
            "data": data
        })
    return render_template('contractor-onboarding.html')

def helper(name):
    return name
